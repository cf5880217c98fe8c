#include "framework/app/terminal/arguments.hpp"

#include "framework/config/value.hpp"

namespace softalign::app {

void RunArgument::add_to(CLI::App& command) {
  command.add_option("run", run, "folder, run.h5 or id of a run; the beginning of an id will do")
      ->required();
  add_results_option(command, results);
}

CLI::Option* RunsArgument::add_to(CLI::App& command) {
  add_results_option(command, results);
  return command.add_option(
      "runs", places, "folders, run.h5 files or ids of runs, or folders that contain some");
}

void add_results_option(CLI::App& command, std::string& results) {
  command.add_option("--results", results, "folder of the records, to find a run by its id")
      ->capture_default_str();
}

namespace {

template <class Read>
CLI::Validator validator(const Limits& limits, const Read& read) {
  const auto fault = [limits, read](const std::string& text) -> std::string {
    try {
      read(Value::scalar(text, {}), limits);
      return "";
    } catch (const ScalarFault& error) {
      return error.what();
    }
  };
  return CLI::Validator(fault, limits_text(limits));
}

}  // namespace

CLI::Validator integer(const Limits& limits) { return validator(limits, to_integer); }

CLI::Validator number(const Limits& limits) { return validator(limits, to_number); }

}  // namespace softalign::app
