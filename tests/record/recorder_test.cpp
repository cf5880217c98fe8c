#include "framework/record/recorder.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/published/arrays.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/record/published/publish.hpp"
#include "tests/child.hpp"
#include "tests/record/no_files.hpp"
#include "tests/record/support.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

constexpr Index kUpdates = 60;

// Returns the record of an undisturbed run.
std::filesystem::path undisturbed(const Scratch& scratch) {
  Recorder record(scratch / "undisturbed", kRun);
  train(record, kUpdates);
  return record.folder().record();
}

// Trains in a child process, which is killed once `fatal(update)` is true. Returns whether it finished.
bool train_in_child(const std::filesystem::path& results, const std::function<bool(Index)>& fatal) {
  const int status = in_child([&] {
    Recorder record(results, kRun);
    train(record, kUpdates, [&](Index u) {
      if (fatal(u)) kill(getpid(), SIGKILL);
    });
    return 0;
  });
  BOOST_REQUIRE(status <= 0);
  return status == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recorder)

BOOST_AUTO_TEST_CASE(a_record_gives_back_what_was_recorded) {
  const Scratch scratch;
  const Record record(undisturbed(scratch));
  BOOST_TEST(record.complete());
  BOOST_TEST(record.state() == "complete");
  BOOST_TEST(record.run_id() == kRun.run_id);
  BOOST_TEST(record.name() == "study");
  BOOST_TEST(record.last_update() == kUpdates);
  BOOST_TEST(record.spec_yaml() == kRun.spec_yaml);
  BOOST_TEST(record.identity_json() == kRun.identity_json);
  BOOST_TEST((record.series_names() == std::vector<std::string>{"train", "dev"}));

  const SeriesColumns train = record.series("train");
  BOOST_REQUIRE(train.updates.size() == usize(kUpdates));
  for (std::size_t i = 0; i < train.updates.size(); ++i) {
    BOOST_TEST(train.updates[i] == static_cast<Index>(i) + 1);
    BOOST_TEST(train.columns.at("loss")[i] == loss_at(static_cast<Index>(i) + 1));
  }
  BOOST_TEST(record.attributes("dev/ppl") == JsonObject({{"units", "1"}}));
  BOOST_TEST(record.attributes("test") ==
             JsonObject({{"best", 1}, {"bleu", 21.5}, {"bleu_signature", "tok:none"}}));

  const Array stats = record.array("test", "bleu_stats");
  BOOST_TEST(as_array<std::int32_t>(stats).shape(1) == 3u);
  BOOST_TEST(as_array<std::int32_t>(stats)(1, 2) ==
             std::get<std::vector<std::int32_t>>(stats.values)[5]);
  BOOST_CHECK_THROW(as_array<float>(stats), DataError);
  BOOST_TEST((stats.dims == std::vector<Dimension>{{"sentence", 2}, {"stat", 3}}));
  BOOST_TEST((stats.values == Values(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6})));
  BOOST_TEST((record.array("test", "hypotheses").values ==
              Values(std::vector<std::string>{"uno dos", ""})));
  BOOST_TEST(record.text("vocabulary", "source") == "word0\nword1\n");

  const auto parameters = record.parameters();
  BOOST_REQUIRE(parameters.size() == 1u);
  BOOST_TEST((parameters.at("decoder.W").shape == std::vector<Index>{2, 3}));
  BOOST_TEST((parameters.at("decoder.W").values == std::vector<float>{1, 2, 3, 4, 5, 6}));

  const std::vector<Alignment> found = record.alignments().of_sentence("attention", 3);
  BOOST_REQUIRE(found.size() == usize(kUpdates / 5));
  for (const Alignment& a : found)
    BOOST_TEST(encode(Frame(a)) == encode(Frame(alignment_at(a.update, 3))));
  BOOST_CHECK_THROW(record.alignments().of_sentence("attention", 1), DataError);
}

BOOST_AUTO_TEST_CASE(text_that_is_no_text_survives) {
  const Scratch scratch;
  const std::string binary("\0\xff model", 8);
  Recorder recorder(scratch.path(), kRun);
  recorder.text("vocabulary", "target", binary);
  recorder.end(RunState::complete);
  BOOST_TEST(Record(recorder.folder().root).text("vocabulary", "target") == binary);
}

BOOST_AUTO_TEST_CASE(a_complete_run_is_left_alone_and_force_begins_again) {
  const Scratch scratch;
  undisturbed(scratch);
  const Recorder again(scratch / "undisturbed", kRun);
  BOOST_TEST(again.already_complete());
  BOOST_TEST((run_status(again.folder()).state == RunState::complete));
  Recorder forced(scratch / "undisturbed", kRun, {.force = true});
  BOOST_TEST(!forced.already_complete());
  BOOST_TEST(!forced.restored().has_value());
  train(forced, kUpdates);
  BOOST_TEST(!forced.drift().has_value());
}

BOOST_AUTO_TEST_CASE(an_interrupted_run_resumes_from_its_checkpoint) {
  const Scratch scratch;
  const auto expected = undisturbed(scratch);
  {
    Recorder record(scratch / "r", kRun);
    try {
      train(record, kUpdates, [](Index u) {
        if (u == 27) throw Interrupted("stop");
      });
    } catch (const Interrupted&) {
      record.end(RunState::interrupted);
    }
    BOOST_TEST((run_status(record.folder()).state == RunState::interrupted));
    BOOST_TEST(!Record(record.folder().record()).complete());
    BOOST_TEST(Record(record.folder().record()).last_update() == 27);
  }
  Recorder record(scratch / "r", kRun);
  BOOST_REQUIRE(record.restored().has_value());
  BOOST_TEST(record.restored()->update == 20);
  BOOST_TEST(record.restored()->blobs.at("update") == "20");
  BOOST_TEST(run_status(record.folder()).last_update == 20);
  train(record, kUpdates);
  BOOST_TEST(!record.drift().has_value());
  BOOST_TEST(compare_records(expected, record.folder().record()).empty());
  BOOST_TEST(numeric_digest(expected) == numeric_digest(record.folder().record()));
  const auto time = Record(record.folder().record()).series("train").columns.at("wall_time");
  BOOST_TEST(std::is_sorted(time.begin(), time.end()));
  BOOST_TEST(
      std::distance(std::filesystem::directory_iterator(record.folder().checkpoints()), {}) == 2);
}

BOOST_AUTO_TEST_CASE(a_value_computed_otherwise_is_drift) {
  const Scratch scratch;
  {
    Recorder record(scratch.path(), kRun);
    record.checkpoint(1, {});
    record.scalars("train", 2, {{"tokens_per_s", 1.0}, {"loss", 3.5}});
    record.end(RunState::interrupted);
  }
  Recorder record(scratch.path(), kRun);
  record.scalars("train", 2, {{"tokens_per_s", 2.0}, {"loss", 3.25}});
  BOOST_TEST(record.drift().value() ==
             "train/loss at update 2 is 3.25, an earlier attempt had 3.5");
  record.end(RunState::complete);
  const Array events = Record(record.folder().record()).array("provenance/events", "text");
  BOOST_TEST((events.values ==
              Values(std::vector<std::string>{"drift after resumption: " + *record.drift()})));
}

BOOST_AUTO_TEST_CASE(what_force_threw_away_is_compared_with_nothing) {
  const Scratch scratch;
  undisturbed(scratch);
  {
    Recorder forced(scratch / "undisturbed", kRun, {.force = true});
    forced.scalars("train", 1, {{"loss", -1.0}});
    BOOST_TEST(!forced.drift().has_value());
    forced.checkpoint(1, {});
    forced.end(RunState::interrupted);
  }
  Recorder resumed(scratch / "undisturbed", kRun);
  BOOST_REQUIRE(resumed.restored().has_value());
  BOOST_TEST(resumed.restored()->update == 1);
  resumed.scalars("train", 2, {{"loss", -2.0}});
  BOOST_TEST(!resumed.drift().has_value());
}

BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_is_not_used) {
  const Scratch scratch;
  const auto expected = undisturbed(scratch);
  train_in_child(scratch / "r", [](Index u) { return u == 35; });
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  for (const auto& entry : std::filesystem::directory_iterator(folder.checkpoints())) {
    if (!entry.path().filename().string().starts_with("upd-00000030")) continue;
    std::string bytes = read_file(entry.path());
    bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 1);
    FileSystem::real().write_atomically(entry.path(), bytes);
  }
  Recorder record(scratch / "r", kRun);
  BOOST_TEST(record.restored().value().update == 20);
  BOOST_TEST(record.notes().size() == 2u);
  train(record, kUpdates);
  BOOST_TEST(compare_records(expected, record.folder().record()).empty());
}

BOOST_AUTO_TEST_CASE(checkpoints_that_are_lost_are_one_note) {
  const Scratch scratch;
  train_in_child(scratch / "r", [](Index u) { return u == 35; });
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  std::filesystem::remove_all(folder.checkpoints());
  const Recorder record(scratch / "r", kRun);
  BOOST_TEST(!record.restored());
  BOOST_TEST(std::ranges::count_if(record.notes(), [](const std::string& note) {
               return contains(note, "checkpoints");
             }) == 1);
}

BOOST_AUTO_TEST_CASE(killed_ten_times_it_ends_in_the_same_bits) {
  const Scratch scratch;
  const auto expected = undisturbed(scratch);
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  int kills = 0;
  const RandomStream random(11, "kills");
  for (bool complete = false; !complete;) {
    const Index at = 1 + random.below(12, static_cast<std::uint64_t>(kills));
    Index steps = 0;
    complete = train_in_child(scratch / "r", [&](Index) { return ++steps == at && kills < 10; });
    kills += !complete;
    if (std::filesystem::exists(folder.record()))
      BOOST_TEST(Record(folder.record()).complete() == complete);
  }
  BOOST_TEST(kills == 10);
  BOOST_TEST(compare_records(expected, folder.record()).empty());
}

// Kills at fixed times, in the middle of any call.
BOOST_AUTO_TEST_CASE(killed_at_any_moment_it_ends_in_the_same_bits) {
  const Scratch scratch;
  const auto expected = undisturbed(scratch);
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  for (int kills = 0;; ++kills) {
    const pid_t child = begin_child([&] {
      Recorder record(scratch / "r", kRun);
      if (!record.already_complete()) train(record, kUpdates);
      return 0;
    });
    if (kills < 10) {
      usleep(static_cast<useconds_t>(2000 + 9000 * kills));
      kill(child, SIGKILL);
    }
    const int status = end_of(child);
    if (std::filesystem::exists(folder.record())) Record(folder.record()).series("train");
    BOOST_REQUIRE(status <= 0);
    if (status == 0) break;
  }
  BOOST_TEST(compare_records(expected, folder.record()).empty());
}

// The bytes of a killed process may be only in the kernel's memory. A resumed attempt syncs them before
// it writes its own first byte; otherwise a power cut could keep the new bytes and lose the old ones.
BOOST_AUTO_TEST_CASE(what_a_resumed_attempt_builds_on_is_on_disk_first) {
  struct Syncs : FileSystem {
    std::set<std::string> synced, synced_before_own_journal;
    int open(const char* path, int flags) override {
      if (std::string(path).ends_with("journal-002.jrnl")) synced_before_own_journal = synced;
      return FileSystem::open(path, flags);
    }
    int fsync(int file) override {
      synced.insert(std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file)).string());
      return FileSystem::fsync(file);
    }
  } files;
  const Scratch scratch;
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  train_in_child(scratch / "r", [](Index update) { return update == 12; });
  const Recorder record(scratch / "r", kRun, {}, files);
  BOOST_TEST(record.restored()->update == 10);
  BOOST_TEST(files.synced_before_own_journal.contains(folder.journal(1).string()));
}

BOOST_AUTO_TEST_CASE(recovery_publishes_what_the_journals_hold) {
  const Scratch scratch;
  train_in_child(scratch / "r", [](Index u) { return u == 47; });
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  std::filesystem::remove(folder.record());
  recover(FileSystem::real(), folder);
  const Record record(folder.root);
  BOOST_TEST(record.last_update() == 47);
  BOOST_TEST(!record.complete());
  BOOST_TEST(record.series("train").updates.size() == 47u);
  BOOST_CHECK_THROW(record.parameters(), DataError);
}

BOOST_AUTO_TEST_CASE(a_run_ended_but_not_published_is_published_on_opening) {
  const Scratch scratch;
  const auto expected = undisturbed(scratch);
  const RunFolder folder{expected.parent_path()};
  const std::string digest = numeric_digest(expected);
  std::filesystem::remove(folder.record());
  std::filesystem::remove(folder.status());
  const Recorder record(scratch / "undisturbed", kRun);
  BOOST_TEST(record.already_complete());
  BOOST_TEST(numeric_digest(folder.record()) == digest);
  BOOST_TEST((run_status(folder).state == RunState::complete));
}

// The end is in the journal, but the last publication failed, for example because the disk was full.
BOOST_AUTO_TEST_CASE(a_record_older_than_its_runs_end_is_published_on_opening) {
  const Scratch scratch;
  const auto expected = undisturbed(scratch);
  const RunFolder folder{expected.parent_path()};
  const std::string last = read_file(folder.record());
  const auto published_again = [&] {
    const Recorder record(scratch / "undisturbed", kRun);
    BOOST_TEST(record.already_complete());
    BOOST_TEST(record.notes().size() == 1u);
    BOOST_TEST(end_is_published(folder));
    BOOST_TEST(Record(folder.record()).complete());
  };
  BOOST_TEST(end_is_published(folder));
  History before = read_history(folder);
  before.live.pop_back();
  publish(FileSystem::real(), folder, before);
  BOOST_TEST(!end_is_published(folder));
  published_again();
  {
    Recorder forced(scratch / "undisturbed", kRun, {.force = true});
    train(forced, kUpdates);
  }
  FileSystem::real().write_atomically(folder.record(), last);  // intact, but of the first attempt
  BOOST_TEST(!end_is_published(folder));
  published_again();
}

// The spec and identity that a record copies from its folder must be those of the run.
BOOST_AUTO_TEST_CASE(a_damaged_setting_is_not_published_and_opening_writes_it_anew) {
  const Scratch scratch;
  const RunFolder folder{undisturbed(scratch).parent_path()};
  const auto refused_for = [&](const std::filesystem::path& file) {
    BOOST_TEST(message_of<DataError>([&] {
                 recover(FileSystem::real(), folder);
               }).starts_with(file.string()));
  };
  for (const auto& file : {folder.identity(), folder.spec()}) {
    const std::string whole = read_file(file);
    FileSystem::real().write_atomically(file, whole + "\xff: {");
    refused_for(file);
    std::filesystem::remove(file);
    refused_for(file);
    FileSystem::real().write_atomically(file, whole);
  }
  FileSystem::real().write_atomically(folder.identity(), "{}");
  std::filesystem::remove(folder.spec());
  std::filesystem::remove(folder.record());
  const Recorder again(scratch / "undisturbed", kRun);
  BOOST_TEST(again.notes().size() == 2u);
  BOOST_TEST(read_file(folder.identity()) == kRun.identity_json);
  BOOST_TEST(Record(folder.record()).spec_yaml() == kRun.spec_yaml);
}

// Whichever call fails, run.h5 is absent or intact, and the run can be resumed to the same bits.
BOOST_AUTO_TEST_CASE(failing_calls_end_the_run_and_nothing_else) {
  const Scratch scratch;
  const auto expected = undisturbed(scratch);
  FaultyFiles counter(Fault::none, 0);
  {
    Recorder record(scratch / "count", kRun, {}, counter);
    train(record, kUpdates);
  }
  for (const Fault fault : {Fault::no_space, Fault::io_error}) {
    for (int nth = 1; nth <= counter.calls(); nth += 17) {
      BOOST_TEST_CONTEXT("call " << nth) {
        const auto results = scratch / fmt::format("{}-{}", static_cast<int>(fault), nth);
        const RunFolder folder{results / kRun.name / kRun.run_id};
        FaultyFiles files(fault, nth);
        try {
          Recorder record(results, kRun, {}, files);
          train(record, kUpdates);
        } catch (const MachineError& e) {
          BOOST_TEST(contains(e.what(), scratch.path().string()));
        }
        if (std::filesystem::exists(folder.record())) Record(folder.record()).series("train");
        Recorder record(
            results, kRun, {.steal = true});  // this process is alive, but its attempt has ended
        if (!record.already_complete()) train(record, kUpdates);
        BOOST_TEST(compare_records(expected, folder.record()).empty());
      }
    }
  }
}

// The end is in the journal before it is in run.h5.
BOOST_AUTO_TEST_CASE(a_run_is_over_when_its_record_has_the_end) {
  struct FullDisk : FileSystem {
    bool full = false;
    int rename(const char* from, const char* to) override {
      if (!full || !std::string_view(to).ends_with("run.h5")) return FileSystem::rename(from, to);
      errno = ENOSPC;
      return -1;
    }
  };
  for (const RunState end : {RunState::complete, RunState::pruned}) {
    for (const Index published : {0, 1}) {
      const Scratch scratch;
      const RunFolder folder{scratch / kRun.name / kRun.run_id};
      {
        FullDisk files;
        Recorder record(scratch.path(), kRun, {}, files);
        record.scalars("train", 1, {{"loss", 1.0}});
        if (published > 0) record.publish();
        files.full = true;
        BOOST_CHECK_THROW(record.end(end), MachineError);
      }
      BOOST_TEST((run_status(folder).state == RunState::failed));
      const Recorder again(scratch.path(), kRun);
      BOOST_TEST(again.already_complete() == (end == RunState::complete));
      if (again.already_complete()) BOOST_TEST(Record(folder.record()).complete());
    }
  }
}

// If run.h5 has the newest end, the run has ended, whatever else is in its folder.
BOOST_AUTO_TEST_CASE(a_record_of_the_end_is_the_end) {
  const std::vector<std::function<void(const RunFolder&)>> losses = {
      [](const RunFolder& run) { std::filesystem::remove(run.status()); },
      [](const RunFolder& run) {  // a process that stopped between its claim and its journal
        std::filesystem::copy(run.attempt(1), run.attempt(2));
      },
      [](const RunFolder& run) {
        std::filesystem::copy(run.attempt(1), run.attempt(2));
        std::filesystem::remove(run.released(2));
      },
      [](const RunFolder& run) {
        std::filesystem::remove(run.status());
        std::filesystem::remove(run.journal(1));
      },
      [](const RunFolder& run) {
        const auto journal = run.journal(1);
        std::filesystem::resize_file(journal, std::filesystem::file_size(journal) - 10);
        std::filesystem::remove(run.status());
      },
      [](const RunFolder& run) {
        for (const auto& entry : std::filesystem::directory_iterator(run.root))
          if (entry.path() != run.record()) std::filesystem::remove_all(entry.path());
      }};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    BOOST_TEST_CONTEXT("loss " << i) {
      const Scratch scratch;
      const RunFolder run{undisturbed(scratch).parent_path()};
      const std::string record = read_file(run.record());
      losses[i](run);
      const auto nobody_lives = [](const Owner&) { return std::string("gone"); };
      BOOST_TEST((run_status(run, nobody_lives).state == RunState::complete));
      if (!is_there(run.claim(2)) || is_there(run.released(2))) {
        BOOST_TEST(Recorder(scratch / "undisturbed", kRun).already_complete());
        BOOST_TEST((run_status(run).state == RunState::complete));
      }
      try {
        recover(FileSystem::real(), run);
      } catch (const std::exception&) {
      }
      BOOST_TEST(Record(run.record()).complete());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_complete_run_without_its_record_is_not_over) {
  const Scratch scratch;
  const RunFolder run{undisturbed(scratch).parent_path()};
  std::filesystem::remove(run.record());
  BOOST_TEST((run_status(run).state == RunState::failed));
  FileSystem::real().write_atomically(run.released(1),
                                      "interrupted");  // Ctrl-C twice during the publication
  std::filesystem::remove(run.status());
  BOOST_TEST((run_status(run).state == RunState::interrupted));
  BOOST_TEST(Recorder(scratch / "undisturbed", kRun).already_complete());
  BOOST_TEST((run_status(run).state == RunState::complete));
}

BOOST_AUTO_TEST_CASE(recover_keeps_a_record_that_holds_more_than_the_journals) {
  const Scratch scratch;
  const RunFolder run{undisturbed(scratch).parent_path()};
  const std::string before = bytes_of(run.record());
  std::filesystem::resize_file(run.journal(1), std::filesystem::file_size(run.journal(1)) - 10);
  BOOST_CHECK_THROW(recover(FileSystem::real(), run), DataError);
  BOOST_TEST((bytes_of(run.record()) == before));
}

BOOST_AUTO_TEST_CASE(test_results_are_whole_or_absent) {
  for (const RunState end : {RunState::failed, RunState::complete}) {
    const Scratch scratch;
    Recorder record(scratch.path(), kRun);
    record.scalars("train", 1, {{"loss", 1.0}});
    record.array("test", "nll", {{"sentence", 1}}, std::vector<double>{2});
    record.array("test/by_length", "loss", {{"bucket", 1}}, std::vector<double>{2});
    record.array("tests", "tried", {}, std::vector<double>{2});
    record.attributes("test", {{"loss", 2}});
    record.end(end);
    const Record published(record.folder().record());
    const std::vector<std::string> groups = published.children();
    BOOST_TEST(std::count(groups.begin(), groups.end(), "test") == (end == RunState::complete));
    BOOST_TEST(std::count(groups.begin(), groups.end(), "tests") == 1);
  }
}

// Limits the file size in a child process; the parent checks the error and the old record.
BOOST_AUTO_TEST_CASE(a_full_disk_leaves_the_published_record) {
  const Scratch scratch;
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  const int status = in_child([&] {
    Recorder record(scratch / "r", kRun);
    record.scalars("train", 1, {{"loss", 1.0}});
    record.publish();
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 12, 1 << 12};
    setrlimit(RLIMIT_FSIZE, &limit);
    record.scalars("train", 2, {{"loss", 2.0}});
    return contains(message_of<MachineError>([&] { record.publish(); }), "run.h5") ? 7 : 8;
  });
  BOOST_TEST(status == 7);
  BOOST_TEST(Record(folder.record()).last_update() == 1);
}

// This is an error of the machine, so no journal may be moved away as corrupt.
BOOST_AUTO_TEST_CASE(too_many_open_files_are_no_damage_of_the_journals,
                     *boost::unit_test::precondition(files_can_run_out)) {
  const Scratch scratch;
  const RunFolder folder{undisturbed(scratch).parent_path()};
  const History history = read_history(folder);
  const NoFiles none;
  BOOST_CHECK_THROW(publish(FileSystem::real(), folder, history), MachineError);
}

BOOST_AUTO_TEST_CASE(a_status_is_that_of_the_process_and_as_new_as_the_journal) {
  const Scratch scratch;
  train_in_child(scratch / "r", [](Index u) { return u == 35; });
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  const RunStatus status = run_status(folder);
  BOOST_TEST((status.state == RunState::lost));
  BOOST_TEST(status.last_update == 35);
  const auto loss = std::find_if(status.metrics.begin(),
                                 status.metrics.end(),
                                 [](const auto& metric) { return metric.first == "train/loss"; });
  BOOST_TEST(loss->second == loss_at(35));
  recover(FileSystem::real(), folder);
  BOOST_TEST(Record(folder.root).state() == "lost");
  std::filesystem::copy(folder.record(), scratch / "copy.h5");
  BOOST_TEST(Record(scratch / "copy.h5").state() == "interrupted");
}

BOOST_AUTO_TEST_CASE(without_its_status_file_a_run_stands_as_its_journal_says) {
  const Scratch scratch;
  const RunFolder folder{undisturbed(scratch).parent_path()};
  std::filesystem::remove(folder.status());
  const RunStatus status = run_status(folder);
  BOOST_TEST((status.state == RunState::complete));
  BOOST_TEST(status.last_update == kUpdates);
}

BOOST_AUTO_TEST_CASE(an_attempt_whose_claim_was_removed_keeps_its_number) {
  const Scratch scratch;
  const auto expected = undisturbed(scratch);
  train_in_child(scratch / "r", [](Index u) { return u == 35; });
  const RunFolder folder{scratch / "r" / kRun.name / kRun.run_id};
  std::filesystem::remove_all(folder.attempt(1));
  BOOST_TEST((run_status(folder).state == RunState::lost));
  recover(FileSystem::real(), folder);
  Recorder record(scratch / "r", kRun);
  BOOST_TEST(record.restored().value().update == 30);
  train(record, kUpdates);
  BOOST_TEST((folder.journals() == std::vector<Index>{1, 2}));
  BOOST_TEST(compare_records(expected, folder.record()).empty());
}

BOOST_AUTO_TEST_CASE(mistakes_of_the_caller_are_refused_at_once) {
  const Scratch scratch;
  Recorder record(scratch.path(), kRun);
  Alignment a = alignment_at(1, 0);
  a.weights.pop_back();
  BOOST_CHECK_THROW(record.alignment(a), BugError);
  BOOST_CHECK_THROW(record.array("g", "a/b", {}, std::vector<double>{1}), BugError);
  BOOST_CHECK_THROW(record.array("g", "a", {{"n", 2}}, std::vector<double>{1}), BugError);
  BOOST_CHECK_THROW(record.attributes("g", JsonObject::array({1})), BugError);
  record.end(RunState::failed);
  BOOST_CHECK_THROW(record.scalars("train", 1, {}), BugError);
  BOOST_TEST((run_status(record.folder()).state == RunState::failed));
}

BOOST_AUTO_TEST_SUITE_END()
