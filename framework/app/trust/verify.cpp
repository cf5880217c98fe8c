// softalign verify RUN: runs an experiment again from its own record and compares every bit.
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/models/trained.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/path.hpp"
#include "framework/config/writer.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/provenance/machine.hpp"
#include "framework/record/provenance/plugins.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/train/experiment.hpp"

namespace softalign::app {
namespace {

struct Arguments {
  RunArgument run;
  std::vector<std::string> overrides;
  std::vector<std::string> plugins;
  int threads = 0;
  bool keep = false;
};

constexpr std::string_view kPrefix = "softalign-verify-", kRandom = "-XXXXXX";

// The system's folder for temporary files.
fs::path temporary_place() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  if (!error) return place;
  std::string name = "/tmp";  // of the names that temp_directory_path asks for, the first wins
  for (const char* variable : {"TEMPDIR", "TEMP", "TMP", "TMPDIR"})
    if (const std::string given = environment_variable(variable); !given.empty()) name = given;
  throw MachineError("{}: {}; set TMPDIR to a folder that can be written", name, error.message());
}

// Removes the folders of our own that processes of this machine were killed over.
void remove_abandoned(const fs::path& place) {
  std::vector<std::string> names;
  try {
    names = names_in(place);
  } catch (const Error&) {  // it may be written, but not listed
  }
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix) || name.size() < kPrefix.size() + kRandom.size()) continue;
    const std::size_t size = name.size() - kPrefix.size() - kRandom.size();
    struct stat about = {};
    std::error_code ignored;
    if (marked(name.substr(kPrefix.size(), size)) == Temporary::abandoned &&
        lstat((place / name).c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
        about.st_uid == geteuid())
      fs::remove_all(place / name, ignored);
  }
}

// A folder of our own there, removed at the end. One that is kept bears no process's mark.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(bool keep) : keep_(keep) {
    const fs::path place = temporary_place();
    remove_abandoned(place);
    const std::string mark = keep ? "kept" : process_mark();
    std::string path = (place / fmt::format("{}{}{}", kPrefix, mark, kRandom)).string();
    if (mkdtemp(path.data()) == nullptr)
      throw MachineError("{}: no folder can be made there; set TMPDIR to one that can be written",
                         place.string());
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
  const JsonObject then = record.attributes("provenance");
  JsonObject now = gather_provenance();
  now["gemm"] = gemm_variant();
  std::vector<std::string> found;
  for (const std::string& plugin : changed_plugins(record)) found.push_back("made by " + plugin);
  for (const char* name : {"git_commit", "compiler", "flags", "isa", "gemm", "libs"})
    if (then.contains(name) && now.contains(name) && then[name] != now[name])
      found.push_back(fmt::format("{} was {}", name, text_of(then[name])));
  return found.empty() ? "nothing else is known to differ"
                       : fmt::format("{}", fmt::join(found, "; "));
}

void check_arithmetic(const Record& record) {
  const JsonObject then = record.attributes("provenance");
  const bool said = then.contains("arithmetic") && then["arithmetic"].is_number_integer();
  const int made_with = said ? then["arithmetic"].get<int>() : 1;
  if (made_with == kArithmetic) return;
  throw DataError(
      "{}: made with arithmetic {}, and this program computes with {}, whose last digits are "
      "others "
      "(CHANGELOG.md says why); verify with the version that made the record{}",
      record.file().string(),
      made_with,
      kArithmetic,
      then.contains("git_commit") ? fmt::format(", git {}", text_of(then["git_commit"])) : "");
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

// Whether a value is of a metric that is newer than the record. What it is computed from is compared.
bool is_newer(const Record& record, const std::string& path) {
  const std::size_t end = path.find_last_of("/@");
  if (end == path.npos) return false;
  const std::string parent = path.substr(0, end), name = path.substr(end + 1);
  return registered_metric(name) &&
         !(path[end] == '@' ? record.attribute<double>(parent, name).has_value()
                            : record.has(path));
}

void verify(const Arguments& arguments) {
  const Record record(find_run(arguments.run));
  if (!record.complete() && record.state() != softalign::to_string(RunState::pruned))
    throw DataError("{}: the run is {}; only one that is complete or pruned can be verified",
                    record.file().string(),
                    record.state());
  const auto resolved = recorded_spec(record, arguments.overrides, arguments.plugins);
  check_arithmetic(record);
  check_data(record, resolved.spec);
  const TemporaryFolder folder(arguments.keep);
  const fs::path again = second_run(record, resolved, folder.path(), arguments.threads);
  std::vector<std::string> different = compare_records(record.file(), again);
  std::erase_if(different, [&](const std::string& path) { return is_newer(record, path); });
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
