// softalign completion bash: a completion script, made from the commands as they are.
#include <fmt/ranges.h>

#include "framework/app/command.hpp"
#include "framework/app/plugins/kinds.hpp"

namespace softalign::app {
namespace {

constexpr char kScript[] =
    R"bash(# bash completion for softalign: eval "$(softalign completion bash)"
_softalign() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if (( COMP_CWORD == 1 )); then
    words="{commands} --help --version"
  elif [[ $current == -* ]]; then
    case "${{COMP_WORDS[1]}}" in
{options}    esac
  elif [[ ${{COMP_WORDS[1]}} == @(list|describe|check) ]]; then
    if (( COMP_CWORD == 2 )); then
      words="{kinds}"
      [[ ${{COMP_WORDS[1]}} == describe ]] && words+=" spec"
      [[ ${{COMP_WORDS[1]}} == check ]] && words+=" all"
    elif (( COMP_CWORD == 3 )); then
      case "${{COMP_WORDS[2]}}" in
{names}      esac
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _softalign softalign
)bash";

std::vector<CLI::App*> commands_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

std::string options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash(CLI::App& app) {
  std::vector<std::string> commands, kinds;
  std::string options, names;
  for (const CLI::App* command : commands_of(app)) {
    commands.push_back(command->get_name());
    options +=
        fmt::format("      {}) words=\"{}\" ;;\n", command->get_name(), options_of(*command));
  }
  const Registry& registry = Registry::instance();
  for (const std::string& kind : registry.kinds()) {
    kinds.push_back(kind);
    std::vector<std::string> of_kind;
    for (const PluginEntry* entry : registry.entries(kind)) of_kind.push_back(entry->name);
    names += fmt::format("      {}) words=\"{}\" ;;\n", kind, fmt::join(of_kind, " "));
  }
  return fmt::format(kScript,
                     fmt::arg("commands", fmt::join(commands, " ")),
                     fmt::arg("options", options),
                     fmt::arg("kinds", fmt::join(kinds, " ")),
                     fmt::arg("names", names));
}

}  // namespace

void add_completion(CLI::App& app, Outcome&) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = add_command(app,
                                  "completion",
                                  "a completion script for a shell",
                                  "Setup",
                                  "eval \"$(softalign completion bash)\"");
  command->add_option("shell", *shell, "bash")->required()->check(CLI::IsMember({"bash"}));
  command->callback([shell, &app] { fmt::print("{}", bash(app)); });
}

}  // namespace softalign::app
