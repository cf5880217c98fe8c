// softalign verify RUN: runs an experiment again from its own record and compares every bit.
#include <fmt/ranges.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "framework/app/command.hpp"
#include "framework/app/json.hpp"
#include "framework/app/load.hpp"
#include "framework/app/progress.hpp"
#include "framework/app/terminal.hpp"
#include "framework/app/trained.hpp"
#include "framework/config/writer.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/record/compare.hpp"
#include "framework/record/plugins.hpp"
#include "framework/record/provenance.hpp"
#include "framework/record/status.hpp"
#include "framework/train/experiment.hpp"

namespace softalign::app {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  RunArgument run;
  std::vector<std::string> overrides;
  std::vector<std::string> plugins;
  int threads = 0;
  bool keep = false;
};

// A folder of our own below the system's for temporary files, removed at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(bool keep) : keep_(keep) {
    std::string path = (fs::temp_directory_path() / "softalign-verify-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr)
      throw MachineError("{}: no folder can be made there; set TMPDIR to one that can be written",
                         fs::temp_directory_path().string());
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool keep_;
};

// What is not the same here as where the record was made, and may change bits.
std::string setting_differences(const Record& record) {
  const Json then = Json::parse(record.attributes("provenance"));
  Json now = Json::parse(gather_provenance(), nullptr, false);
  now["gemm"] = gemm_variant();
  std::vector<std::string> found;
  for (const std::string& plugin : changed_plugins(record)) found.push_back("made by " + plugin);
  for (const char* name : {"git_commit", "compiler", "flags", "isa", "gemm", "libs"})
    if (then.contains(name) && now.contains(name) && then[name] != now[name])
      found.push_back(fmt::format("{} was {}", name, text_of(then[name])));
  return found.empty() ? "nothing else is known to differ"
                       : fmt::format("{}", fmt::join(found, "; "));
}

void check_data(const Record& record, const Spec& spec) {
  if (const auto changed = changed_data(record, spec); !changed.empty())
    throw DataError(
        "{}: the data is not what the run read: {} changed; restore it, or name its "
        "place: task.train.source=FILE",
        record.file().string(),
        fmt::join(changed, ", "));
  const std::vector<RunName> names = names_of(spec);
  if (std::ranges::count(names, record.run_id(), &RunName::run_id) > 0) return;
  const std::string made_by = record.attribute<std::string>("", "framework_version").value_or("");
  if (made_by == build_info().version)
    throw damaged_record(record.file(),
                         fmt::format("its spec is that of another run, {}", names.front().run_id));
  throw DataError(
      "{}: this program calls the same spec run {}: its options have changed; verify "
      "with the version that made the record, {}",
      record.file().string(),
      names.front().run_id,
      made_by);
}

// The record of another run of the same spec.
fs::path second_run(const Record& record,
                    const ResolvedSpec<Spec>& resolved,
                    const fs::path& folder,
                    int threads) {
  ProgressObserver observer;
  ExperimentOptions options;
  if (!record.complete())
    options.pruner = [&](const fs::path&) {
      return std::make_unique<StopAtUpdate>(record.last_update());
    };
  options.results = folder;
  options.run_id = record.run_id();
  options.threads = threads;
  try {
    return RunFolder{run_experiment(resolved, options, observer).folder}.record();
  } catch (const Interrupted&) {
    throw Interrupted("interrupted; the record is as it was, verify it again");
  }
}

void verify(const Arguments& arguments) {
  const Record record(find_run(arguments.run));
  if (!record.complete() && record.state() != softalign::to_string(RunState::pruned))
    throw DataError("{}: the run is {}; only one that is complete or pruned can be verified",
                    record.file().string(),
                    record.state());
  const auto resolved = recorded_spec(record, arguments.overrides, arguments.plugins);
  check_data(record, resolved.spec);
  const TemporaryFolder folder(arguments.keep);
  const fs::path again = second_run(record, resolved, folder.path(), arguments.threads);
  const std::vector<std::string> different = compare_records(record.file(), again);
  if (arguments.keep) print_text("kept: {}\n", printable(folder.path().string(), kWhole));
  if (!different.empty()) {
    const std::size_t shown = std::min<std::size_t>(different.size(), 3);
    throw CheckError(
        "{}: {} of its values differ when run again, first {}; {}",
        record.file().string(),
        different.size(),
        fmt::join(different.begin(), different.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        setting_differences(record));
  }
  print_text("{}: the same bits again\n", short_path(record.file()));
}

}  // namespace

void add_verify(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app,
                                  "verify",
                                  "run an experiment again from its record, compare every bit",
                                  "Trust",
                                  "softalign verify 3f2a");
  arguments->run.add_to(*command);
  command->add_option(
      "overrides", arguments->overrides, "where its data is now: task.train.source=FILE");
  add_record_plugin_option(*command, arguments->plugins);
  add_threads_option(*command, arguments->threads);
  command->add_flag("--keep", arguments->keep, "keep the second record");
  command->callback([arguments] { verify(*arguments); });
}

}  // namespace softalign::app
