// The run index: which entries it trusts and which it reads again, and that it changes only the speed.
#include "framework/analysis/run_index.hpp"

#include <signal.h>

#include <optional>

#include "framework/analysis/run.hpp"
#include "framework/base/files.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/types.hpp"
#include "framework/data/cache.hpp"
#include "tests/analysis/runs.hpp"
#include "tests/child.hpp"

using namespace softalign;
using namespace softalign::test;
namespace {

// Three complete runs and a cache; look() reads them as if they had been unchanged for 100 seconds.
struct Setting {
  Scratch scratch;
  fs::path results = scratch / "results", cache = scratch / "cache";
  std::vector<RunFolder> runs;

  Setting() {
    for (const Index seed : {1, 2, 3}) runs.push_back(complete_run(results, seeded(seed)));
    std::sort(
        runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.root < b.root; });
  }
  void copy_first(int times) const {
    for (int i = 0; i < times; ++i)
      fs::copy(
          runs[0].root, results / "study" / fmt::format("copy-{}", i), fs::copy_options::recursive);
  }
  RunIndex look() const { return index_runs(results, {cache, std::time(nullptr) + 100}); }
  fs::path file() const { return index_place(cache, fs::canonical(results / "study").string()); }

  // Returns the number of runs that are read now, after checking that each equals a read without the index.
  std::size_t read() const {
    const RunIndex found = look(), all = index_runs(results, {std::nullopt, 0});
    BOOST_REQUIRE(found.runs.size() == all.runs.size());
    for (std::size_t i = 0; i < all.runs.size(); ++i) {
      BOOST_TEST(found.runs[i].path == all.runs[i].path);
      BOOST_TEST(packed(found.runs[i]) == packed(all.runs[i]));
    }
    BOOST_TEST(all.read == all.runs.size());
    return found.read;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(run_index)

BOOST_AUTO_TEST_CASE(a_run_is_read_once) {
  const Setting setting;
  BOOST_TEST(setting.read() == 3u);
  BOOST_TEST(setting.read() == 0u);
  fs::remove_all(setting.cache);
  BOOST_TEST(setting.read() == 3u);
}

// A file that was written just before it was read may change again within a tick of the clock.
BOOST_AUTO_TEST_CASE(runs_that_ended_just_now_are_read_once_too) {
  const Setting setting;
  const auto look = [&] {
    return index_runs(setting.results, {setting.cache, std::time(nullptr)});
  };
  const std::string folder = fs::canonical(setting.results / "study").string();
  BOOST_TEST(look().read == 3u);
  BOOST_TEST(look().read == 0u);
  for (const auto& [name, entry] : read_index(setting.file(), folder)) BOOST_TEST(entry.ends != "");
  BOOST_TEST(setting.read() == 0u);  // the files have settled: trusted from now on
  for (const auto& [name, entry] : read_index(setting.file(), folder)) BOOST_TEST(entry.ends == "");
  BOOST_TEST(setting.read() == 0u);
}

BOOST_AUTO_TEST_CASE(a_change_that_no_stamp_tells_of_is_noticed_while_a_file_is_young) {
  const Setting setting;
  const auto now = std::time(nullptr);
  const RunFolder& run = setting.runs[0];
  const std::string folder = fs::canonical(setting.results / "study").string();
  const std::string name = run.root.filename().string();
  const fs::path again = setting.scratch / "again";  // the same runs, made at another time
  for (const Index seed : {1, 2, 3}) complete_run(again, seeded(seed));
  for (const fs::path& file :
       {run.identity(), run.spec(), run.status(), run.record(), run.journal(1), run.claim(1)}) {
    index_runs(setting.results, {setting.cache, now});
    const IndexEntry before = read_index(setting.file(), folder).at(name);
    const std::string bytes = bytes_of(file);
    const bool sealed = file == run.record() || file == run.journal(1);
    write_file(file, sealed ? bytes_of(again / "study" / name / file.filename()) : bytes + " ");
    fs::remove_all(setting.cache);
    index_runs(setting.results, {setting.cache, now});
    IndexEntries entries = read_index(setting.file(), folder);
    entries.at(name).ends = before.ends;  // as if the clock had not ticked since
    entries.at(name).run = before.run;
    write_index(setting.file(), folder, entries);
    BOOST_TEST(index_runs(setting.results, {setting.cache, now + 100}).read == 1u, file);
    write_file(file, bytes);
  }
}

BOOST_AUTO_TEST_CASE(a_comparison_needs_no_record_that_is_remembered) {
  const Setting setting;
  setting.read();
  const RunIndex index = setting.look();
  const fs::path place = setting.runs[0].root;
  Run read = read_run(place), kept = index.runs[0];
  fs::remove(setting.runs[0].record());
  for (Run* run : {&read, &kept}) {
    demand_complete(*run);
    read_configuration(*run);
    read_curves(*run, {"dev"});
  }
  BOOST_TEST(kept.run_id == read.run_id);
  BOOST_TEST(kept.configuration == read.configuration);
  BOOST_TEST(kept.test_set == read.test_set);
  BOOST_TEST(kept.dev.updates == read.dev.updates, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_run_with_another_file_is_read) {
  const Setting setting;
  setting.read();
  const RunFolder& run = setting.runs[1];
  for (const fs::path& file :
       {run.identity(), run.spec(), run.status(), run.record(), run.journal(1), run.claim(1)}) {
    write_file(file, bytes_of(file));  // rewritten in place with the same bytes
    BOOST_TEST(setting.read() == 1u, file);
    BOOST_TEST(setting.read() == 0u);
  }
  write_file(run.root / "note.txt", "of a person");
  BOOST_TEST(setting.read() == 1u);
  fs::create_directory(run.attempt(2));
  BOOST_TEST(setting.read() == 1u);
  BOOST_TEST(setting.read() == 0u);
  fs::copy(run.claim(1), run.claim(2));  // this leaves the run's own folder unchanged
  BOOST_TEST(setting.read() == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_read_is_what_is_there_now) {
  const Setting setting;
  setting.read();
  std::string status = bytes_of(setting.runs[0].status());
  status.replace(status.find("\"complete\""), 10, "\"failed\"");
  write_file(setting.runs[0].status(), status);
  BOOST_TEST(setting.look().runs[0].state() == "failed");
}

BOOST_AUTO_TEST_CASE(runs_come_and_go) {
  const Setting setting;
  setting.read();
  complete_run(setting.results, seeded(4));
  complete_run(setting.results, seeded(4, "other"));
  BOOST_TEST(setting.read() == 2u);
  BOOST_TEST(setting.read() == 0u);
  fs::remove_all(setting.runs[0].root);
  BOOST_TEST(setting.read() == 0u);
  const std::string folder = fs::canonical(setting.results / "study").string();
  BOOST_TEST(read_index(setting.file(), folder).size() == 3u);
  fs::rename(setting.runs[1].root, setting.results / "study/renamed");
  BOOST_TEST(setting.read() == 1u);
}

BOOST_AUTO_TEST_CASE(a_folder_of_folders_shares_its_runs) {
  const Setting setting;
  setting.read();
  const IndexOptions later{setting.cache, std::time(nullptr) + 100};
  const fs::path study = setting.results / "study";
  BOOST_TEST(index_runs(study, later).read == 0u);
  BOOST_TEST(index_runs(study / "../study/", later).read == 0u);
  const RunIndex one = index_runs(setting.runs[0].root, later);
  BOOST_TEST(one.runs.size() == 1u);
  BOOST_TEST(one.runs[0].run_id == setting.runs[0].root.filename().string());
  BOOST_TEST(setting.read() == 0u);
}

// When the process of a run is killed, none of the run's files change.
BOOST_AUTO_TEST_CASE(a_killed_run_is_lost_at_once) {
  const Setting setting;
  const pid_t child = begin_child([&] {
    auto* record = new Recorder(setting.results, seeded(9));
    train_some(*record, 3);
    return pause();
  });
  const RunFolder run{setting.results / "study" / seeded(9).run_id};
  const auto state = [&] {
    for (const Run& found : setting.look().runs)
      if (found.path == run.root) return found.state();
    return std::string("not there");
  };
  for (int tenths = 0; tenths < 300 && read_run(run.root).status.last_update < 3; ++tenths)
    usleep(100'000);
  BOOST_TEST(state() == "running");
  BOOST_TEST(state() == "running");
  kill(child, SIGKILL);
  end_of(child);
  BOOST_TEST(state() == "lost");
  BOOST_TEST(setting.read() == 1u);
}

BOOST_AUTO_TEST_CASE(a_run_that_cannot_be_read_is_tried_again_and_spoils_nothing) {
  const Setting setting;
  fs::resize_file(setting.runs[1].record(), 4000);
  for (int i = 0; i < 2; ++i) {
    const RunIndex index = setting.look();
    BOOST_TEST(index.read == (i == 0 ? 3u : 1u));
    BOOST_TEST(index.runs[1].state() == "corrupt");
    for (const std::size_t other : {0u, 2u}) BOOST_TEST(index.runs[other].state() == "complete");
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_or_foreign_index_is_made_anew) {
  const Setting setting;
  setting.read();
  const std::string whole = bytes_of(setting.file());
  const auto with = [&](const std::string& bytes) {
    write_file(setting.file(), bytes);
    BOOST_REQUIRE(setting.look().read == 3u);
    BOOST_REQUIRE(bytes_of(setting.file()) == whole);
  };
  for (std::size_t k = 0; k < whole.size(); k += whole.size() / 40) {
    std::string flipped = whole;
    flipped[k] = static_cast<char>(flipped[k] ^ 4);
    with(flipped);
    with(whole.substr(0, k));
  }
  with(whole + "x");
  with("");
  const std::string folder = fs::canonical(setting.results / "study").string();
  const std::string neighbour = folder.substr(0, folder.size() - 1) + "z";
  const fs::path other = index_place(setting.cache, neighbour);
  write_index(other, neighbour, read_index(setting.file(), folder));
  BOOST_REQUIRE(fs::exists(other));
  with(bytes_of(other));
}

BOOST_AUTO_TEST_CASE(an_index_that_cannot_be_written_is_none) {
  Setting setting;
  write_file(setting.scratch / "file", "");
  setting.cache = setting.scratch / "file/cache";
  BOOST_TEST(setting.read() == 3u);
  setting.cache = setting.scratch / "cache";
  BOOST_TEST(setting.read() == 3u);
  BOOST_TEST(setting.read() == 0u);
}

// One new run among many does not justify rewriting the whole index.
BOOST_AUTO_TEST_CASE(one_new_run_of_many_is_not_yet_written) {
  const Setting setting;
  setting.copy_first(300);
  BOOST_TEST(setting.look().read == 303u);
  const auto inode = [&] { return stamp_of(setting.file().c_str()).inode; };
  const auto before = inode();
  for (Index seed = 10; seed < 12; ++seed) {
    complete_run(setting.results, seeded(seed));
    BOOST_TEST(setting.look().read == usize(seed - 9));
    BOOST_TEST((inode() == before) == (seed == 10));
  }
  BOOST_TEST(setting.look().read == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
