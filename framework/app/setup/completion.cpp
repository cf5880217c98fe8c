// softalign completion SHELL: prints a script for a shell, which calls the hidden command `complete` at every
// Tab. `complete` knows commands, options and their values, plugins, runs and the keys of a spec.
#include <fmt/ranges.h>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "framework/analysis/run_index.hpp"
#include "framework/app/command.hpp"
#include "framework/app/plugins/plugins.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/config/help.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {
namespace {

const std::map<std::string, const char*> kScripts = {
    {"bash", R"bash(# bash completion for softalign: eval "$(softalign completion bash)"
_softalign() {
  local line="${COMP_LINE:0:COMP_POINT}" word found
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word="${words[-1]}"
  COMPREPLY=()
  while IFS=$'\t' read -r found _; do
    [[ $found == *[=.] ]] && compopt -o nospace
    COMPREPLY+=("${found#"${word%"${word##*[=:]}"}"}")  # bash has the part before '=' already
  done < <(softalign complete -- "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _softalign softalign
)bash"},
    {"zsh", R"zsh(#compdef softalign
# zsh completion for softalign: eval "$(softalign completion zsh)"
_softalign() {
  local line
  local -a keys words_found described
  softalign complete -- "${(@)words[2,CURRENT]}" 2>/dev/null | while IFS= read -r line; do
    case "${line%%$'\t'*}" in
      *[=.]) keys+=("${line%%$'\t'*}") ;;
      *) words_found+=("${line%%$'\t'*}"); described+=("${line//$'\t'/  }") ;;
    esac
  done
  (( $#keys )) && compadd -S '' -a keys
  (( $#words_found )) && compadd -l -d described -a words_found
  (( $#keys + $#words_found )) || _files
}
compdef _softalign softalign
)zsh"},
    {"fish", R"fish(# fish completion for softalign: softalign completion fish | source
complete -c softalign -a '(softalign complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
)fish"}};

struct Candidate {
  std::string word, description;
};

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

// Parses the words before the last one as the parser of the command line would.
class CommandLine {
 public:
  CommandLine(const CLI::App& app, const std::vector<std::string>& words) : command(&app) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string& word = words[i];
      if (wants_value) {
        values[wants_value->get_name()] = word;
        wants_value = nullptr;
      } else if (word.starts_with('-') && word.size() > 1) {
        take_option(word);
      } else if (const CLI::App* inner = inner_command(word)) {
        command = inner;
        positionals.clear();
      } else {
        positionals.push_back(word);
      }
    }
  }

  // Returns the positional argument that the last word would be, or null.
  const CLI::Option* next_positional() const {
    std::size_t left = positionals.size();
    for (const CLI::Option* option : command->get_options()) {
      if (!option->get_positional()) continue;
      if (left == 0 || option->get_expected_max() > 1) return option;
      --left;
    }
    return nullptr;
  }

  const CLI::App* command;
  const CLI::Option* wants_value = nullptr;  // the option before the last word, if it takes a value
  std::vector<std::string> positionals;
  std::map<std::string, std::string> values;  // of options, by name

 private:
  void take_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const CLI::Option* option = command->get_option_no_throw(word.substr(0, equals));
    if (!option || option->get_expected_max() == 0) return;
    if (equals == word.npos)
      wants_value = option;
    else
      values[option->get_name()] = word.substr(equals + 1);
  }

  const CLI::App* inner_command(const std::string& word) const {
    if (!positionals.empty()) return nullptr;
    for (const CLI::App* inner : commands_of(*command))
      if (inner->get_name() == word) return inner;
    return nullptr;
  }
};

// Returns the values of an option whose values are checked; its type names them: "TEXT:{csv,json}".
std::vector<Candidate> values_of_option(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  std::vector<Candidate> values;
  if (open == type.npos || close == type.npos) return values;
  std::string names = type.substr(open + 1, close - open - 1);
  for (std::size_t at = 0; at <= names.size(); at = names.find(',', at) + 1) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    values.push_back({names.substr(at, end - at), ""});
    if (end == names.size()) break;
  }
  return values;
}

std::vector<Candidate> runs_below_results(const CommandLine& line) {
  std::vector<Candidate> runs;
  const auto results = line.values.find("--results");
  for (const Run& run : index_runs(results == line.values.end() ? "results" : results->second).runs)
    runs.push_back({run.run_id, fmt::format("{} {}", run.name, run.state())});
  return runs;
}

// Returns the possible values of the option at a path: "true", the names of plugins, ...
std::vector<Candidate> values_of_key(const OptionNode& node, const std::string& path) {
  std::vector<Candidate> values;
  for (const OptionNode& child : node.children) {
    if (path.starts_with(child.path + ".")) {
      const auto* choice = std::get_if<Choice>(&child.value);
      if (!choice || path != child.path + ".type") return values_of_key(child, path);
    } else if (path != child.path) {
      continue;
    }
    for (const std::string& name : child.limits.names) values.push_back({path + "=" + name, ""});
    if (std::holds_alternative<bool>(child.value))
      values = {{path + "=true", ""}, {path + "=false", ""}};
    if (const auto* choice = std::get_if<Choice>(&child.value))
      for (const PluginEntry* entry : Registry::instance().entries(choice->kind))
        values.push_back({path + "=" + entry->name, entry->summary});
    return values;
  }
  return values;
}

void add_keys(const OptionNode& node, std::vector<Candidate>& keys) {
  for (const OptionNode& child : node.children) {
    if (!child.block) keys.push_back({child.path + "=", child.help});
    add_keys(child, keys);
  }
}

// Returns the keys of the spec that the command line names, with the options of its plugins, or the keys of all specs
// if it cannot be read; after KEY=, the values of the key.
std::vector<Candidate> overrides_of(const CommandLine& line, const std::string& current) {
  OptionNode options;
  try {
    SpecTree tree = load_tree(line.positionals.at(0));
    for (std::size_t i = 1; i < line.positionals.size(); ++i)
      apply(tree.root, parse_override(line.positionals[i], {"override"}), tree.notes);
    options = values_of(resolve<Spec>(std::move(tree)).spec);
  } catch (const std::exception&) {  // missing or invalid spec
    options = values_of(Spec());
  }
  if (const std::size_t equals = current.find('='); equals != current.npos)
    return values_of_key(options, current.substr(0, equals));
  std::vector<Candidate> keys;
  add_keys(options, keys);
  return keys;
}

std::vector<Candidate> plugins_of_kind(const std::string& kind) {
  std::vector<Candidate> names;
  for (const PluginEntry* entry : Registry::instance().entries(kind_named(kind)))
    names.push_back({entry->name, entry->summary});
  return names;
}

std::vector<Candidate> arguments_of(const CommandLine& line, const std::string& current) {
  const CLI::Option* const option = line.next_positional();
  if (!option) return {};
  const std::string name = option->get_name();
  const std::string command = line.command->get_name();
  if (name == "run" || name == "runs" || name == "other" || command == "tag")
    return runs_below_results(line);
  if (name == "overrides") return overrides_of(line, current);
  if (name == "name" && !line.positionals.empty()) return plugins_of_kind(line.positionals[0]);
  if (name == "kind") {
    std::vector<Candidate> kinds;
    for (const std::string& kind : Registry::instance().kinds()) kinds.push_back({kind, ""});
    if (command == "describe") kinds.push_back({"spec", "the options of an experiment"});
    if (command == "check") kinds.push_back({"all", ""});
    return kinds;
  }
  return values_of_option(*option);
}

std::vector<Candidate> candidates(const CLI::App& app, const std::vector<std::string>& words) {
  const CommandLine line(app, words);
  const std::string current = words.empty() ? "" : words.back();
  if (line.wants_value) return values_of_option(*line.wants_value);
  std::vector<Candidate> found;
  if (current.starts_with('-')) {
    const std::size_t equals = current.find('=');
    if (equals != current.npos) {
      const CLI::Option* option = line.command->get_option_no_throw(current.substr(0, equals));
      if (option)
        for (const Candidate& value : values_of_option(*option))
          found.push_back({current.substr(0, equals + 1) + value.word, ""});
      return found;
    }
    for (const CLI::Option* option : line.command->get_options())
      for (const std::string& name : option->get_lnames())
        found.push_back({"--" + name, option->get_description()});
    return found;
  }
  if (line.positionals.empty())
    for (const CLI::App* inner : commands_of(*line.command))
      found.push_back({inner->get_name(), inner->get_description()});
  if (line.command == &app) found.push_back({"--help", ""});
  if (line.command == &app) found.push_back({"--version", ""});
  if (line.command->get_name() == "help" && line.positionals.empty())
    for (const CLI::App* command : commands_of(app))
      found.push_back({command->get_name(), command->get_description()});
  if (line.command != &app && commands_of(*line.command).empty())
    for (Candidate& one : arguments_of(line, current)) found.push_back(std::move(one));
  return found;
}

void print_candidates(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string current = words.empty() ? "" : words.back();
  for (const auto& [word, description] : candidates(app, words)) {
    if (!word.starts_with(current)) continue;
    const std::string first_line = description.substr(0, description.find('\n'));
    print_text("{}{}{}\n", word, first_line.empty() ? "" : "\t", first_line);
  }
}

}  // namespace

void add_complete(CLI::App& app, Outcome&) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      add_command(app,
                  "complete",
                  "complete the last word of a command line; called by the scripts of `completion`",
                  "",
                  "softalign complete -- describe score ''");
  command->add_option("words", *words, "words of the command line, without the program's name");
  command->callback([words, &app] { print_candidates(app, *words); });
}

void add_completion(CLI::App& app, Outcome&) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = add_command(app,
                                  "completion",
                                  "print the completion script of a shell",
                                  "Setup",
                                  "eval \"$(softalign completion bash)\"");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell] { fmt::print("{}", kScripts.at(*shell)); });
}

}  // namespace softalign::app
