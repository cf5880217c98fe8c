#include "framework/app/terminal/runs.hpp"

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

void add_results_option(CLI::App& command, std::string& results) {
  command.add_option("--out", results, "where records are, to find a run by its id")
      ->capture_default_str();
}

}  // namespace softalign::app
