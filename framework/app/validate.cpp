// softalign validate SPEC..: says everything that is wrong with specs, and with the files that they
// name, without running them.

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <functional>

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

// What is wrong with a spec, or with the files that it names.
struct Findings {
  std::string run_id;
  std::vector<std::string> errors;
  ExitCode code = ExitCode::done;

  // Returns whether `check` found nothing.
  bool pass(const std::function<void()>& check) {
    try {
      check();
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage && error.code() != ExitCode::data) throw;
      errors.emplace_back(error.what());
      if (code != ExitCode::usage) code = error.code();
      return false;
    }
  }
};

Findings validated(const std::string& file, const std::vector<std::string>& plugins) {
  Findings findings;
  ResolvedSpec<Spec> resolved;
  if (!findings.pass([&] { resolved = load(load_tree(file), plugins); })) return findings;
  findings.pass([&] { check_spec(resolved); });
  findings.pass([&] { findings.run_id = run_id(identity(identity_json(resolved.spec))); });
  return findings;
}

void validate(const Arguments& arguments, Outcome& outcome) {
  Json list = Json::array();
  for (const std::string& file : arguments.files) {
    const Findings findings = validated(file, arguments.plugins);
    const bool valid = findings.errors.empty();
    Json entry = {{"file", file}, {"valid", valid}};
    if (valid)
      entry["run_id"] = findings.run_id;
    else
      entry["errors"] = fmt::format("{}", fmt::join(findings.errors, "\n"));
    if (!valid && outcome.code != ExitCode::usage) outcome.code = findings.code;
    if (!arguments.json) {
      for (const std::string& error : findings.errors) print_error(error);
      fmt::print("{}: {}\n", file, valid ? "valid, run " + findings.run_id : "not valid");
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
