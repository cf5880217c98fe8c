#include "framework/app/terminal/runs.hpp"

#include <algorithm>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"

namespace softalign::app {
void RunArgument::add_to(CLI::App& command) {
  command.add_option("run", run, "a run's folder, its run.h5, or the beginning of its id")
      ->required();
  add_results_option(command, results);
}

CLI::Option* RunsArgument::add_to(CLI::App& command) {
  add_results_option(command, results);
  return command.add_option("runs", places, "runs, as `show` takes them, or folders above some");
}

std::vector<GivenRun> RunsArgument::given() const { return given_runs(places, results); }

void add_results_option(CLI::App& command, std::string& results) {
  command.add_option("--out", results, "where records are, to find a run by its id")
      ->capture_default_str();
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
      places.push_back(softalign::find_run(arguments[i], results));
    for (const fs::path& place : places) {
      const fs::path canonical = fs::weakly_canonical(place, error);
      if (seen.insert(error ? whole_path(place) : canonical).second)
        given.push_back({normal_path(place), static_cast<Index>(i)});
    }
  }
  return given;
}

}  // namespace softalign::app
