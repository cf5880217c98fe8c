// softalign validate SPEC..: says everything that is wrong with specs, and with the files that they
// name, without running them.

#include "framework/app/command.hpp"
#include "framework/app/json.hpp"
#include "framework/app/load.hpp"
#include "framework/config/writer.hpp"
#include "framework/train/experiment.hpp"

namespace softalign::app {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> plugins;
  bool json = false;
};

// The id of the run that a spec describes.
std::string validated(const std::string& file, const std::vector<std::string>& plugins) {
  const auto resolved = load(load_tree(file), plugins);
  check_spec(resolved);
  return run_id(identity(identity_json(resolved.spec)));
}

void validate(const Arguments& arguments, Outcome& outcome) {
  Json list = Json::array();
  for (const std::string& file : arguments.files) {
    Json entry = {{"file", file}, {"valid", true}};
    try {
      entry["run_id"] = validated(file, arguments.plugins);
      if (!arguments.json)
        fmt::print("{}: valid, run {}\n", file, entry["run_id"].get<std::string>());
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage && error.code() != ExitCode::data) throw;
      if (outcome.code != ExitCode::usage) outcome.code = error.code();
      entry["valid"] = false;
      entry["errors"] = error.what();
      if (!arguments.json) print_error(error.what());
    }
    list.push_back(std::move(entry));
  }
  if (arguments.json) print_json(list);
}

}  // namespace

void add_validate(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app,
      "validate",
      "say everything that is wrong with specs, and which files they name are not there",
      "Experiments",
      "softalign validate configs/*.yaml");
  command->add_option("specs", arguments->files, "YAML files")->required();
  add_plugin_option(*command, arguments->plugins);
  command->add_flag("--json", arguments->json, "print the findings as JSON");
  command->callback([arguments, &outcome] { validate(*arguments, outcome); });
}

}  // namespace softalign::app
