#include "framework/app/terminal/runs.hpp"

#include <algorithm>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/path.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/base/text.hpp"

namespace softalign::app {
namespace {

// Several runs for one beginning of an id. A study keeps runs of its own, so one run may lie in two
// places.
SpecError ambiguous(const std::string& given, const std::vector<RunFolder>& found) {
  constexpr std::size_t kShown = 5;
  const auto id = [](const RunFolder& run) { return run.root.filename(); };
  std::string places;
  for (std::size_t i = 0; i < std::min(kShown, found.size()); ++i)
    places += (i > 0 ? ", " : "") + short_path(found[i].root);
  if (found.size() > kShown) places += fmt::format(" and {} more", found.size() - kShown);
  const bool same = std::all_of(found.begin(), found.end(), [&](const RunFolder& run) {
    return id(run) == id(found.front());
  });
  if (same)
    return SpecError("{}: {} folders hold the run of this id; give one of them: {}",
                     given,
                     found.size(),
                     places);
  return SpecError("{}: {} runs have an id that begins so; give more of it, or a folder: {}",
                   given,
                   found.size(),
                   places);
}

}  // namespace

void RunArgument::add_to(CLI::App& command) {
  command.add_option("run", run, "a run's folder, its run.h5, or the beginning of its id")
      ->required();
  command.add_option("--out", results, "where records are, to find a run by its id")
      ->capture_default_str();
}

fs::path find_run(const RunArgument& argument) {
  if (argument.run.empty())
    throw SpecError("which run? give its folder, its run.h5 or the beginning of its id");
  const fs::path given = argument.run;
  if (is_folder(given)) {
    if (is_run_folder(given)) return normal_path(given);
    const std::vector<RunFolder> below = runs_below(given);
    if (below.size() == 1) return normal_path(below.front().root);
    if (below.empty())
      throw SpecError("{}: neither a run's folder nor one above it", given.string());
    throw SpecError("{}: {} runs are below it; softalign ls {} lists them",
                    given.string(),
                    below.size(),
                    shell_file(given.string()));
  }
  std::error_code error;  // a name that cannot be one of a file may still be no run's
  if (fs::exists(given, error)) return given;
  std::vector<RunFolder> found;
  if (is_folder(argument.results))
    for (const RunFolder& run : runs_below(argument.results))
      if (run.root.filename().string().starts_with(argument.run)) found.push_back(run);
  if (found.size() == 1) return found.front().root;
  if (found.empty())
    throw SpecError(
        "{}: neither a file, a folder nor the beginning of a run's id below {}; "
        "softalign ls lists the runs",
        argument.run,
        argument.results);
  throw ambiguous(argument.run, found);
}

RunFolder find_run_folder(const RunArgument& argument) {
  const fs::path found = find_run(argument);
  if (fs::is_directory(found)) return {found};
  const fs::path folder = folder_of(found);
  if (!RunFolder{folder}.journals().empty()) return {folder};
  throw SpecError("{}: a record without its run's folder; this command needs the journals there",
                  found.string());
}

std::vector<GivenRun> given_runs(const std::vector<std::string>& arguments,
                                 const std::string& results) {
  std::vector<GivenRun> given;
  std::set<fs::path> seen;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::error_code error;
    std::vector<fs::path> places;
    if (is_folder(arguments[i]))
      for (const RunFolder& run : runs_below(arguments[i])) places.push_back(run.root);
    else
      places.push_back(find_run({arguments[i], results}));
    for (const fs::path& place : places) {
      const fs::path canonical = fs::weakly_canonical(place, error);
      if (seen.insert(error ? whole_path(place) : canonical).second)
        given.push_back({normal_path(place), static_cast<Index>(i)});
    }
  }
  return given;
}

std::string short_path(const fs::path& path) {
  std::error_code error;
  const std::string relative = fs::relative(path, error).string();
  const bool longer = error || relative.empty() || relative.size() >= path.string().size();
  return printable(longer ? path.string() : relative, kWhole);
}

}  // namespace softalign::app
