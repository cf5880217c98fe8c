// softalign verify RUN: runs an experiment again from its own record and compares every bit.
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/app/command.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/records/records.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/sentencepiece.hpp"
#include "framework/eval/metric.hpp"
#include "framework/inference/evaluate_run.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/train/experiment.hpp"

namespace softalign::app {
namespace {

struct VerifyArguments {
  RunArgument run;
  std::vector<std::string> overrides;
  std::vector<std::string> plugins;
  int threads = 0;
  bool keep = false;
  bool quick = false;
  std::optional<Index> from, updates;
};

// Lists differences between this program and machine and those of the record that may change bits.
std::string setting_differences(const Record& record) {
  const JsonObject then = record.attributes("provenance");
  JsonObject now = gather_provenance();
  now["gemm"] = gemm_variant();
  std::vector<std::string> found;
  for (const std::string& plugin : changed_plugins(record)) found.push_back("made by " + plugin);
  for (const char* name : {"git_commit", "compiler", "flags", "isa", "gemm", "libs"})
    if (then.contains(name) && now.contains(name) && then[name] != now[name])
      found.push_back(fmt::format("{} was {}", name, text_of(then[name])));
  return found.empty() ? "no other difference is known" : fmt::format("{}", fmt::join(found, "; "));
}

void check_arithmetic(const Record& record) {
  const JsonObject then = record.attributes("provenance");
  const bool numbered = then.contains("arithmetic") && then["arithmetic"].is_number_integer();
  const int made_with = numbered ? then["arithmetic"].get<int>() : 1;
  if (made_with == kArithmetic) return;
  throw DataError(
      "{}: made with arithmetic {}; this program has arithmetic {}, which differs in the last "
      "digits (see CHANGELOG.md); verify with the version that made the record{}",
      record.file().string(),
      made_with,
      kArithmetic,
      then.contains("git_commit") ? fmt::format(", git {}", text_of(then["git_commit"])) : "");
}

void check_data(const Record& record, const Spec& spec) {
  const std::string libraries = text_of(record.attributes("provenance")["libs"]);
  const auto leaves = option_leaves(spec);
  const bool makes_pieces = std::ranges::any_of(leaves, [](const OptionLeaf& leaf) {
    return leaf.path == "task.vocabulary.type" && leaf.value == "sentencepiece";
  });
  if (makes_pieces && libraries.find("sentencepiece " + sentencepiece_version()) == libraries.npos)
    throw DataError(
        "{}: its subwords are from another version of sentencepiece than this program's, {}, which "
        "may segment words differently; verify with the version of the record, {}",
        record.file().string(),
        sentencepiece_version(),
        libraries);
  const auto changed = changed_data(record, spec);
  if (!changed.empty())
    throw DataError(
        "{}: the data differs from what the run read: {} changed; restore it, or give its new "
        "path: {}=FILE",
        record.file().string(),
        fmt::join(changed, ", "),
        changed.front());
  const RunName name = run_name(spec);
  if (name.run_id == record.run_id() && name.identity_json == record.identity_json()) return;
  if (name.run_id == record.run_id())
    throw damaged_record(record.file(), "its run id is not the hash of its identity_json");
  const std::string made_by = record.attribute<std::string>("", "framework_version").value_or("");
  if (made_by == build_info().version)
    throw damaged_record(record.file(),
                         fmt::format("its spec belongs to another run, {}", name.run_id));
  throw DataError(
      "{}: with this program the same spec has the run id {}, because its options have changed; "
      "verify with the version that made the record, {}",
      record.file().string(),
      name.run_id,
      made_by);
}

// Ends a run after an update and the evaluation that may follow it, that is, one update later.
class StopAfter : public ProgressObserver {
 public:
  explicit StopAfter(Index last) : last_(last) {}
  void update(const TrainingProgress& progress) override {
    TrainingProgress here = progress;
    here.updates = std::min(progress.updates, last_);
    ProgressObserver::update(here);
    reached_ = progress.update > last_;
  }
  bool stop_requested() override { return reached_ || ProgressObserver::stop_requested(); }
  bool reached() const { return reached_; }

 private:
  Index last_;
  bool reached_ = false;
};

// A second run of the same spec, complete or in part.
struct SecondRun {
  Index from = 0;  // the update of the checkpoint that it started from
  bool whole = true;
  fs::path record = {};
};

// Returns the last checkpoint before the end, or else that of the end, after which evaluations follow;
// nothing follows the end of a pruned run.
ResumePoint begin_at_checkpoint(const Record& record, const VerifyArguments& arguments) {
  const Index end = record.last_update(), latest = arguments.from.value_or(end);
  for (const Index last : {std::min(latest, end - 1), record.complete() ? latest : Index{0}})
    if (auto beginning = resume_point_of(
            {folder_of(record.file())}, record.run_id(), [&](const Checkpoint& checkpoint) {
              return checkpoint.update <= last;
            }))
      return std::move(*beginning);
  throw DataError(
      "{}: ckpt/ beside it has no intact checkpoint of the run{}; --updates N repeats the first N "
      "updates; without an option verify repeats all",
      record.file().string(),
      arguments.from ? fmt::format(" at or before update {}", latest) : " before its end");
}

SecondRun run_again(const Record& record,
                    const ResolvedSpec<Spec>& resolved,
                    const fs::path& results,
                    const VerifyArguments& arguments) {
  ExperimentOptions options;
  if (!record.complete())
    options.pruner = [&](const fs::path&) {
      return std::make_unique<StopAtUpdate>(record.last_update());
    };
  options.results = results;
  options.threads = arguments.threads;
  SecondRun second;
  options.from_scratch = true;
  if (arguments.quick || arguments.from) {
    ResumePoint beginning = begin_at_checkpoint(record, arguments);
    second.from = beginning.state.update;
    options.beginning = [beginning = std::move(beginning)] { return beginning; };
  }
  StopAfter observer(arguments.updates ? second.from + *arguments.updates
                                       : std::numeric_limits<Index>::max());
  try {
    run_experiment(resolved, options, observer);
  } catch (const Interrupted&) {
    if (!observer.reached())
      throw Interrupted("interrupted; the record is unchanged, verify it again");
    second.whole = false;
  }
  second.record = RunFolder{place_of(resolved.spec, results).folder}.record();
  return second;
}

// Removes the differences in metrics that the record lacks because the program that made it did not have them, and
// returns the names of these metrics. A spec that lists its metrics has no others.
std::vector<std::string> without_later_metrics(const Record& record,
                                               const Spec& spec,
                                               std::vector<std::string>& different) {
  std::vector<std::string> later;
  if (spec.evaluate.metrics) return later;
  for (const auto& [name, metric] : default_metrics()) {
    std::set<std::string> own = {"dev/" + name, "test/by_length/" + name};
    if (std::ranges::any_of(own, [&](const std::string& path) { return record.has(path); }))
      continue;
    own.insert({"test@" + name, "test@" + name + "_signature"});
    for (const CountColumn& column : metric->columns())
      for (const std::string& array : {"test/" + column.name, "test/" + column.part})
        if (!record.has(array)) own.insert(array);
    const auto removed = std::erase_if(different, [&](const std::string& path) {
      return own.contains(path) || own.contains(path.substr(0, path.find_first_of("@ ")));
    });
    if (removed > 0) later.push_back(name);
  }
  return later;
}

void verify(const VerifyArguments& arguments) {
  const Record record(find_run(arguments.run));
  if (!record.complete() && record.state() != softalign::to_string(RunState::pruned))
    throw DataError("{}: the run is {}; only complete or pruned runs can be verified",
                    record.file().string(),
                    record.state());
  const auto resolved = recorded_spec(record, arguments.overrides, arguments.plugins);
  check_arithmetic(record);
  check_data(record, resolved.spec);
  const TemporaryFolder folder(arguments.keep);
  const SecondRun second = run_again(record, resolved, folder.path(), arguments);
  std::vector<std::string> different = second.whole
                                           ? compare_records(record.file(), second.record)
                                           : compare_until_end_of(record, Record(second.record));
  const auto later = without_later_metrics(record, resolved.spec, different);
  if (arguments.keep) print_text("kept: {}\n", printable(folder.path().string(), kWhole));
  if (!different.empty()) {
    const std::size_t shown = std::min<std::size_t>(different.size(), 3);
    throw CheckError(
        "{}: {} of its values differ in the repetition, first {}; {}",
        record.file().string(),
        different.size(),
        fmt::join(different.begin(), different.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        setting_differences(record));
  }
  std::string part;
  if (!second.whole)
    part = fmt::format(" in training and dev at updates {} to {} of {}",
                       second.from + 1,
                       second.from + *arguments.updates,
                       record.last_update());
  else if (second.from > 0)
    part = fmt::format(" after update {} of {}", second.from, record.last_update());
  if (!later.empty()) part += fmt::format("; it has no {}", fmt::join(later, ", "));
  print_text("{}: the same bits again{}\n", short_path(record.file()), part);
}

}  // namespace

void add_verify(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = add_command(app,
                                  "verify",
                                  "repeat a run from its record and compare every bit",
                                  "Records",
                                  "softalign verify 3f2a");
  arguments->run.add_to(*command);
  command->add_option(
      "overrides", arguments->overrides, "new paths of its data: task.train.source=FILE");
  add_record_plugin_option(*command, arguments->plugins);
  add_threads_option(*command, arguments->threads);
  CLI::Option* quick = command->add_flag(
      "--quick", arguments->quick, "repeat only from the last checkpoint, which is trusted");
  command
      ->add_option("--from",
                   arguments->from,
                   "repeat only from the last checkpoint at or before this update")
      ->type_name("UPDATE")
      ->check(integer(between(0, kMostUpdates)))
      ->excludes(quick);
  command
      ->add_option("--updates",
                   arguments->updates,
                   "repeat only N updates, from the start or the checkpoint, and compare training "
                   "and dev series")
      ->type_name("N")
      ->check(integer(between(1, kMostUpdates)));
  command->add_flag("--keep", arguments->keep, "keep the record of the repetition");
  command->callback([arguments] { verify(*arguments); });
}

}  // namespace softalign::app
