#include "framework/app/runs.hpp"

#include <algorithm>

#include "framework/base/error.hpp"

namespace softalign::app {
namespace {

namespace fs = std::filesystem;

void collect(const fs::path& folder, int depth, std::vector<RunFolder>& runs) {
  constexpr int kDeepest = 6;  // results/<study>/<name>/<run id> and some more
  std::error_code error;       // a folder that may not be read holds no run of ours
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error)) continue;
    if (is_run_folder(entry.path()))
      runs.push_back({entry.path()});
    else if (depth < kDeepest && !entry.is_symlink(error))
      collect(entry.path(), depth + 1, runs);
  }
}

}  // namespace

void RunArgument::add_to(CLI::App& command) {
  command.add_option("run", run, "a run's folder, its run.h5, or the beginning of its id")
      ->required();
  command.add_option("--out", results, "where records are, to find a run by its id")
      ->capture_default_str();
}

bool is_run_folder(const fs::path& path) {
  const RunFolder run{path};
  std::error_code error;
  return fs::exists(run.identity(), error) || fs::exists(run.record(), error) ||
         fs::exists(run.claim(1), error);
}

std::vector<RunFolder> runs_below(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw SpecError("{}: no such folder; records land in results/ unless --out says otherwise",
                    folder.string());
  std::vector<RunFolder> runs;
  if (is_run_folder(folder))
    runs.push_back({folder});
  else
    collect(folder, 1, runs);
  std::sort(runs.begin(), runs.end(), [](const RunFolder& a, const RunFolder& b) {
    return a.root < b.root;
  });
  return runs;
}

fs::path find_run(const RunArgument& argument) {
  const fs::path given = argument.run;
  if (fs::is_directory(given)) {
    if (is_run_folder(given)) return given.lexically_normal();
    throw SpecError("{}: no run's folder; softalign ls {} lists those below it",
                    given.string(),
                    given.string());
  }
  if (fs::exists(given)) return given;
  std::vector<RunFolder> found;
  if (fs::is_directory(argument.results))
    for (const RunFolder& run : runs_below(argument.results))
      if (run.root.filename().string().starts_with(argument.run)) found.push_back(run);
  if (found.size() == 1) return found.front().root;
  if (found.empty())
    throw SpecError(
        "{}: neither a file, a folder nor the beginning of a run's id below {}; "
        "softalign ls lists the runs",
        argument.run,
        argument.results);
  throw SpecError("{}: {} runs have an id that begins so, such as {} and {}; give more of it",
                  argument.run,
                  found.size(),
                  short_path(found[0].root),
                  short_path(found[1].root));
}

RunFolder find_run_folder(const RunArgument& argument) {
  const fs::path found = find_run(argument);
  if (fs::is_directory(found)) return {found};
  const fs::path folder = fs::absolute(found).parent_path();
  if (!RunFolder{folder}.journals().empty()) return {folder};
  throw SpecError("{}: a record without its run's folder; this command needs the journals there",
                  found.string());
}

std::string short_path(const fs::path& path) {
  std::error_code error;
  const std::string relative = fs::relative(path, error).string();
  return error || relative.empty() || relative.size() >= path.string().size() ? path.string()
                                                                              : relative;
}

}  // namespace softalign::app
