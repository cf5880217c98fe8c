// softalign tag, rm, gc: manage existing runs.
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "framework/analysis/run_origin.hpp"
#include "framework/app/command.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/cache.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/folder/status.hpp"

namespace softalign::app {
namespace {

std::string size_of(const DiskUsage& usage) { return bytes_text(static_cast<double>(usage.bytes)); }

constexpr const char* kKept = "nothing was removed; --yes removes without asking";

void remove_whole(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw MachineError("{}: cannot be removed: {}", path.string(), error.message());
}

RunFolder run_folder(const fs::path& path) {
  std::error_code none;
  if (fs::is_symlink(path, none))
    throw SpecError("{}: is a link; name the folder that it leads to",
                    printable(path.string(), kWhole));
  if (!is_folder(path))
    throw SpecError("{}: is a single record, not the folder of a run; remove the file itself",
                    printable(path.string(), kWhole));
  return {path};
}

void add_yes(CLI::App& command, bool& yes) {
  command.add_flag("-y,--yes", yes, "do not ask for confirmation");
}

// softalign tag RUN.. +TAG.. -TAG..

struct TagArguments {
  std::vector<std::string> words;  // runs, and tags after '+' or '-'
  std::string results = "results";
};

void tag(TagArguments arguments, const std::vector<std::string>& unknown) {
  arguments.words.insert(arguments.words.end(), unknown.begin(), unknown.end());
  std::vector<std::string> runs, add, remove;
  for (const std::string& word : arguments.words) {
    if (word == "-h") throw CLI::CallForHelp();
    if (word.starts_with("--")) throw SpecError("unknown option '{}'", printable(word));
    if (word == "+" || word == "-") throw SpecError("'{}' is not a tag", word);
    if (word.starts_with('+'))
      add.push_back(word.substr(1));
    else if (word.starts_with('-'))
      remove.push_back(word.substr(1));
    else
      runs.push_back(word);
  }
  if (runs.empty()) throw SpecError("missing run");
  if (add.empty() && remove.empty())
    throw SpecError("missing tag; write +TAG to add one, -TAG to remove one");
  std::vector<RunFolder> folders;
  for (const auto& found : find_runs(runs, arguments.results))
    for (const fs::path& path : found) folders.push_back(run_folder(path));
  for (const RunFolder& run : folders) {
    const std::vector<std::string> tags = change_tags(run, add, remove);
    print_text("{}: {}\n",
               short_path(run.root),
               tags.empty() ? "no tags" : printable(fmt::format("{}", fmt::join(tags, ", "))));
  }
}

// softalign rm RUN..

struct RmArguments {
  RunsArgument runs;
  bool yes = false;
};

ExitCode rm(const RmArguments& arguments) {
  const fs::path results = whole_path(arguments.runs.results);
  std::vector<RunFolder> folders;
  Table table({{"run"}, {"state"}, {"files", Side::right}, {"size", Side::right}});
  DiskUsage all;
  for (const auto& found : find_runs(arguments.runs.places, arguments.runs.results))
    for (const fs::path& path : found) {
      const RunFolder run = run_folder(path);
      const RunStatus status = run_status(run);
      if (is_worked_on(status.state))
        throw MachineError(
            "{}: {} works on it; end that process first", short_path(path), status.owner);
      const DiskUsage usage = disk_usage(path);
      all += usage;
      table.row({short_path(path),
                 std::string(to_string(status.state)),
                 fmt::format("{}", usage.files),
                 size_of(usage)});
      folders.push_back({whole_path(path)});  // absolute: the working folder may be removed, too
    }
  print_text("{}", table.str());
  const std::string what = counted(folders.size(), "run");
  if (!arguments.yes && !confirmed(fmt::format("remove {}, {}?", what, size_of(all)))) {
    print_error(kKept);
    return ExitCode::failed;
  }
  for (const RunFolder& run : folders) {
    remove_whole(run.root);
    const fs::path above = run.root.parent_path();
    std::error_code in_use;  // a folder that is not empty is kept, and so is the results folder
    if (above != results) fs::remove(above, in_use);
  }
  print_text("removed {}, {}\n", what, size_of(all));
  return ExitCode::done;
}

// softalign gc [FOLDER]

struct Garbage {
  const char* name;
  const char* loss;  // the cost of removing it
  std::vector<fs::path> paths = {};
  DiskUsage usage = {};

  void add(const fs::path& path) {
    const DiskUsage more = disk_usage(path);
    usage += more;
    if (more.files > 0) paths.push_back(path);
  }
};

struct GcArguments {
  std::string folder = "results";
  std::vector<std::string> what = {"checkpoints", "journals"};
  bool yes = false, json = false;
};

std::vector<Garbage> garbage_below(const std::string& folder) {
  Garbage checkpoints{"checkpoints", "runs cannot be extended, or verified with --quick"};
  Garbage journals{"journals", "a damaged run.h5 cannot be recovered"};
  Garbage cache{"cache", "data is prepared again by the next run"};
  if (folder != GcArguments().folder || is_there(folder))
    for (const RunFolder& run : runs_below(folder)) {
      if (run_status(run).state != RunState::complete || !published_end(run)) continue;
      check_names_in(run);
      checkpoints.add(run.checkpoints());
      for (const Index attempt : run.journals()) journals.add(run.journal(attempt));
    }
  if (const auto kept = cache_folder())
    for (const char* name : kCacheFolders) cache.add(*kept / name);
  return {checkpoints, journals, cache};
}

ExitCode gc(const GcArguments& arguments) {
  std::vector<Garbage> all = garbage_below(arguments.folder);
  std::erase_if(all, [&](const Garbage& one) {
    return std::ranges::find(arguments.what, one.name) == arguments.what.end();
  });
  DiskUsage sum;
  Json json = Json::array();
  Table table({{"what"}, {"files", Side::right}, {"size", Side::right}, {"without it"}});
  for (const Garbage& one : all) {
    sum += one.usage;
    table.row({one.name, fmt::format("{}", one.usage.files), size_of(one.usage), one.loss});
    json.push_back({{"what", one.name}, {"files", one.usage.files}, {"bytes", one.usage.bytes}});
  }
  if (arguments.json)
    print_json(json);
  else
    print_text("{}", table.str());
  if (sum.files == 0) return ExitCode::done;
  const std::string what = fmt::format("{}, {}", counted(sum.files, "file"), size_of(sum));
  if (!arguments.yes && !confirmed(fmt::format("remove {}?", what))) {
    print_error(kKept);
    return ExitCode::done;
  }
  for (const Garbage& one : all)
    for (const fs::path& path : one.paths) remove_whole(path);
  if (!arguments.json) print_text("removed {}\n", what);
  return ExitCode::done;
}

}  // namespace

void add_tag(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<TagArguments>();
  CLI::App* command = add_command(
      app, "tag", "add or remove tags of runs", "Records", "softalign tag 3f2a +paper -draft");
  command->set_help_flag("--help", "print this help and exit (also -h)");  // -h could be a tag
  command->allow_extras();
  command->add_option("words", arguments->words, "runs, +TAG to add a tag, -TAG to remove one");
  add_results_option(*command, arguments->results);
  command->callback([arguments, command] { tag(*arguments, command->remaining()); });
}

void add_rm(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<RmArguments>();
  CLI::App* command =
      add_command(app, "rm", "remove runs with all their files", "Records", "softalign rm 3f2a");
  arguments->runs.add_to(*command)->required();
  add_yes(*command, arguments->yes);
  command->callback([arguments, &outcome] { outcome.code = rm(*arguments); });
}

void add_gc(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<GcArguments>();
  CLI::App* command = add_command(app,
                                  "gc",
                                  "remove files that are no longer needed, after asking",
                                  "Records",
                                  "softalign gc results --what journals,cache");
  command->add_option("folder", arguments->folder, "folder of the runs")->capture_default_str();
  command
      ->add_option("--what",
                   arguments->what,
                   "what to remove: checkpoints or journals of complete runs, or cache, the "
                   "prepared data of all runs of this user")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"checkpoints", "journals", "cache"}))
      ->capture_default_str();
  add_yes(*command, arguments->yes);
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &outcome] { outcome.code = gc(*arguments); });
}

}  // namespace softalign::app
