// softalign help [COMMAND..]: prints the help of the program, of a command or of its subcommand.
#include <string>
#include <vector>

#include "framework/app/command.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/error.hpp"

namespace softalign::app {
namespace {

void print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string whole = app.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> legal;
    const CLI::App* next = nullptr;
    for (const CLI::App* inner : command->get_subcommands([](const CLI::App*) { return true; })) {
      legal.push_back(inner->get_name());
      if (legal.back() == word) next = inner;
    }
    if (!next)
      throw SpecError("{} has no command '{}'{}", whole, printable(word), suggestion(word, legal));
    command = next;
    whole += " " + word;
  }
  // App::help would print the help of the running command, which is `help`.
  print_text("{}", command->get_formatter()->make_help(command, whole, CLI::AppFormatMode::Normal));
}

}  // namespace

void add_help(CLI::App& app, Outcome&) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = add_command(app,
                                  "help",
                                  "print the help of the program or of a command",
                                  "Setup",
                                  "softalign help sweep run");
  command->add_option("command", *words, "a command and its subcommand (default: the program)");
  command->callback([words, &app] { print_help(app, *words); });
}

}  // namespace softalign::app
