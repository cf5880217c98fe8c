// softalign publish, recover: make a record from the files of a run.
#include <fmt/ranges.h>
#include <algorithm>
#include <map>
#include <set>

#include "framework/app/command.hpp"
#include "framework/app/records/records.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/config/writer.hpp"
#include "framework/config/yaml.hpp"
#include "framework/inference/evaluate_run.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/record/published/publish.hpp"
#include "framework/runs/run_list.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

// softalign publish RUN -o FILE: copies a record for others, without what identifies the machine that made it.

namespace {

constexpr const char* kPublishExample = R"(softalign publish 3f2a -o supplement/run.h5

The copy lacks the host, the kernel, the environment, and every event and fact that
contains an absolute path or the host's name. Names, notes, tags, vocabularies and
sentences are copied unchanged.)";

struct PublishArguments {
  RunArgument run;
  OutputFile out;
  std::string below;
};

fs::path last_parts(const fs::path& path, std::ptrdiff_t count) {
  fs::path end;
  auto part = path.end();
  for (; count > 0 && part != path.begin(); --count) --part;
  for (; part != path.end(); ++part) end /= *part;
  return end.relative_path();
}

// Maps each path to its last n parts, with the smallest n that makes all of them different.
std::map<fs::path, fs::path> shortest_ends(const std::set<fs::path>& paths) {
  std::map<fs::path, fs::path> ends;
  std::set<fs::path> different;
  for (std::ptrdiff_t count = 1; different.size() < paths.size(); ++count) {
    different.clear();
    for (const fs::path& path : paths) different.insert(ends[path] = last_parts(path, count));
  }
  return ends;
}

// Returns a file's path below a folder; empty if the folder has no such file, or was not given.
fs::path path_below(const std::string& folder,
                    const fs::path& path,
                    const fs::path& whole,
                    const std::string& digest) {
  if (folder.empty()) return {};
  const fs::path root = whole_path(folder), relative = whole.lexically_relative(root);
  std::error_code unreadable;
  if (*relative.begin() != ".." && fs::exists(whole, unreadable)) return relative;
  const auto found = find_below(root, path, digest);
  return found ? found->lexically_relative(root) : fs::path();
}

// Replaces the paths of files by those below a folder, or by the shortest ends that differ. Returns the names of runs.
std::set<std::string> shorten_paths(const Record& record, Value& spec, const std::string& below) {
  const fs::path folder = record.file().parent_path();
  std::vector<std::pair<Value*, fs::path>> others;
  std::set<fs::path> paths;
  std::vector<const Value*> runs;
  for (const auto& [file, digest] : data_files(record, spec)) {
    std::error_code unreadable;
    const fs::path path(file->text);
    fs::path whole = whole_path(folder / path);
    if (!whole.has_filename()) whole = whole.parent_path();  // "runs/" is "runs"
    const bool short_already = path.is_relative() && *path.begin() != "..";
    if (short_already && !fs::exists(whole, unreadable)) continue;
    if (is_run_folder(whole)) runs.push_back(file);
    if (const fs::path found = path_below(below, path, whole, digest); !found.empty()) {
      file->text = found.string();
    } else {
      others.emplace_back(file, whole);
      paths.insert(whole);
    }
  }
  const auto ends = shortest_ends(paths);
  for (const auto& [file, whole] : others) file->text = ends.at(whole).string();
  std::set<std::string> names;
  for (const Value* run : runs) names.insert(run->text);
  return names;
}

Value parse_spec(const Record& record, const std::string& yaml) {
  try {
    return parse_yaml(yaml, record.file().string());
  } catch (const SpecError& error) {
    throw damaged_record(record.file(), in_one_line(error));
  }
}

struct PublicSpec {
  std::string yaml;            // its origins are only "given" and "default", without file names
  std::set<std::string> runs;  // that the spec is initialised from, or takes vocabularies from
};

PublicSpec public_spec(const Record& record, const std::string& below) {
  const std::string yaml = record.spec_yaml();
  std::vector<bool> defaults;  // by line
  for (std::size_t at = 0; at < yaml.size();) {
    const std::size_t end = std::min(yaml.find('\n', at), yaml.size());
    defaults.push_back(is_default_line(std::string_view(yaml).substr(at, end - at)));
    at = end + 1;
  }
  Value spec = parse_spec(record, yaml);
  find_moved_data(record, spec);
  const std::set<std::string> runs = shorten_paths(record, spec, below);
  if (Value::Entry* const plugins = spec.find("plugins"))
    for (Value& plugin : plugins->value.items)
      plugin = Value::scalar(fs::path(plugin.text).filename().string(), plugin.where, true);
  const auto comment = [&](const Value::Entry& entry) {
    const auto line = static_cast<std::size_t>(entry.where.line);
    return line > 0 && line <= defaults.size() && defaults[line - 1] ? "  # default" : "";
  };
  return {block_text(spec, "", comment), runs};
}

bool is_public_copy_at(const fs::path& file) {
  try {
    return is_public_copy(Record(file));
  } catch (const Error&) {
    return false;
  }
}

void publish(const PublishArguments& arguments) {
  arguments.out.check(is_public_copy_at);
  const Record record(find_run(arguments.run));
  const auto [yaml, runs] = public_spec(record, arguments.below);
  const PublicCopy copy = public_copy(record, yaml);
  const TemporaryFolder folder(false);
  const fs::path made = folder.path() / "copy.h5";
  FileSystem::real().write_atomically(made, copy.image);
  if (const auto different = compare_records(record.file(), made); !different.empty())
    throw damaged_record(record.file(),
                         fmt::format("a copy of it would differ in {}", different.front()));
  FileSystem::real().write_atomically(arguments.out.path, copy.image);
  print_text("{}: run {}, the same numbers\n", arguments.out.path, record.run_id());
  if (!copy.left_out.empty())
    print_text("left out: {}\n",
               printable(fmt::format("{}", fmt::join(copy.left_out, ", ")), kWhole));
  Value spec = parse_spec(record, yaml);
  std::set<std::string> files;
  for (const auto& [file, digest] : data_files(record, spec)) files.insert(file->text);
  if (!files.empty())
    print_text("data: {}\n", printable(fmt::format("{}", fmt::join(files, ", ")), kWhole));
  if (!runs.empty())
    print_text(
        "the data includes runs: {}; publish them, too, each as run.h5 in a folder of that name\n",
        printable(fmt::format("{}", fmt::join(runs, ", ")), kWhole));
}

}  // namespace

void add_publish(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<PublishArguments>();
  CLI::App* command =
      add_command(app,
                  "publish",
                  "copy a record without personal data about the machine that made it",
                  "Records",
                  kPublishExample);
  arguments->run.add_to(*command);
  arguments->out.add_to(*command, "-o,--output", "the copy, which can be verified like the record");
  command->get_option("--output")->required();
  command
      ->add_option("--below",
                   arguments->below,
                   "store paths of data below this folder relative to it, so that a record below "
                   "it finds its data; of other data only the file's name is stored")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  command->callback([arguments] { publish(*arguments); });
}

// softalign recover RUN: makes run.h5 from the journals of a run that was killed.

void add_recover(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<RunArgument>();
  CLI::App* command = add_command(app,
                                  "recover",
                                  "write the record of a killed run from its journals",
                                  "Records",
                                  "softalign recover 3f2a");
  arguments->add_to(*command);
  command->callback([arguments] {
    const RunFolder run = find_run_folder(arguments->run, arguments->results);
    recover(FileSystem::real(), run, Spec::options_outside_run_id());
    const Record record(run.record());
    print_text("{}: {}, {}\n",
               short_path(record.file()),
               record.complete() ? "complete" : "incomplete; run its spec again to resume",
               counted(record.last_update(), "update"));
  });
}

}  // namespace softalign::app
