#include "framework/app/load.hpp"

#include "framework/config/plugin_loader.hpp"

namespace softalign::app {

void SpecArguments::add_to(CLI::App& command) {
  command.add_option("spec", file, "the experiment's YAML file")->required();
  command.add_option("overrides",
                     overrides,
                     "changes to it: train.epochs=3, model.attention.score.type=dot, ~notes");
  command.add_option("--plugin", plugins, "shared object with further plugins; may be repeated")
      ->expected(1)
      ->take_all();
}

ResolvedSpec<Spec> load(const SpecArguments& arguments) {
  for (const std::string& plugin : arguments.plugins) load_plugin(plugin);
  auto resolved = resolve<Spec>(load_tree(arguments.file, numbered_overrides(arguments.overrides)));
  for (const std::string& note : resolved.notes) fmt::print(stderr, "note: {}\n", note);
  return resolved;
}

}  // namespace softalign::app
