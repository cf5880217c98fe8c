// The commands of the program. Each has a function that adds it to the command line, in the file named after it
// or with other commands of its heading. Shared code has files of its own (load, arguments, table, progress).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"

namespace softalign::app {

// The exit status of a command that has already printed everything; other failures are exceptions.
struct Outcome {
  ExitCode code = ExitCode::done;
};

// All commands, in the order of the help.
// clang-format off
#define SOFTALIGN_COMMANDS(X) \
  X(run) X(study) X(sweep) X(validate) X(resolve) X(parameters) X(match) \
  X(ls) X(show) X(tail) X(compare) X(diff) X(export) X(report) X(figures) X(serve) X(verify) X(recover) X(publish) \
  X(tag) X(rm) X(gc) \
  X(evaluate) X(translate) X(score) \
  X(list) X(describe) X(check) \
  X(doctor) X(completion) X(complete) X(schema) X(help)
// clang-format on

#define SOFTALIGN_COMMAND(name) void add_##name(CLI::App& app, Outcome& outcome);
SOFTALIGN_COMMANDS(SOFTALIGN_COMMAND)
#undef SOFTALIGN_COMMAND

// Adds a subcommand with its one-line summary, its heading in the help, and an example.
CLI::App* add_command(
    CLI::App& app, const char* name, const char* summary, const char* heading, const char* example);

// Returns the lines of an error. All line ends are the program's own, because untrusted text in errors is escaped.
std::vector<std::string> error_lines(std::string_view text);

// Prints each line of an error on standard error, after "softalign: " unless it begins with a position in a file.
// Control characters, which names may contain, are escaped, and very long lines are shortened.
void print_error(std::string_view text);

}  // namespace softalign::app
