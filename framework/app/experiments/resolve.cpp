// softalign resolve SPEC [KEY=VALUE..]: prints a spec with every default filled in and the origin
// of every value.
#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/config/writer.hpp"
#include "framework/train/check_spec.hpp"
#include "framework/train/run_name.hpp"

namespace softalign::app {

void add_resolve(CLI::App& app, Outcome&) {
  struct Arguments {
    SpecArguments spec;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      add_command(app,
                  "resolve",
                  "print a spec with all its values and where each comes from",
                  "Experiments",
                  "softalign resolve configs/reverse.yaml model.attention.score=dot");
  arguments->spec.add_to(*command);
  command->add_flag(
      "--json", arguments->json, "print the canonical JSON whose SHA-256 names the run");
  command->callback([arguments] {
    const auto resolved = load(arguments->spec);
    check_spec(resolved);
    if (arguments->json)
      write_data(run_name(resolved.spec).identity_json + "\n");
    else
      write_data(resolved_yaml(resolved.spec, resolved.origins));
  });
}

}  // namespace softalign::app
