// The commands of the program: each is one function that adds it to the command line, in the file
// of its name. What several share is in files of its own (load, runs, table, progress).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"

namespace softalign::app {

// The exit status of a command that has already said everything; other failures are exceptions.
struct Outcome {
  ExitCode code = ExitCode::done;
};

void add_run(CLI::App& app, Outcome& outcome);
void add_study(CLI::App& app, Outcome& outcome);
void add_sweep(CLI::App& app, Outcome& outcome);
void add_validate(CLI::App& app, Outcome& outcome);
void add_resolve(CLI::App& app, Outcome& outcome);
void add_parameters(CLI::App& app, Outcome& outcome);

void add_ls(CLI::App& app, Outcome& outcome);
void add_show(CLI::App& app, Outcome& outcome);
void add_tail(CLI::App& app, Outcome& outcome);
void add_compare(CLI::App& app, Outcome& outcome);
void add_diff(CLI::App& app, Outcome& outcome);
void add_export(CLI::App& app, Outcome& outcome);
void add_report(CLI::App& app, Outcome& outcome);
void add_verify(CLI::App& app, Outcome& outcome);
void add_recover(CLI::App& app, Outcome& outcome);
void add_publish(CLI::App& app, Outcome& outcome);

void add_evaluate(CLI::App& app, Outcome& outcome);
void add_translate(CLI::App& app, Outcome& outcome);
void add_score(CLI::App& app, Outcome& outcome);

void add_list(CLI::App& app, Outcome& outcome);
void add_describe(CLI::App& app, Outcome& outcome);
void add_check(CLI::App& app, Outcome& outcome);
void add_doctor(CLI::App& app, Outcome& outcome);
void add_completion(CLI::App& app, Outcome& outcome);

// A subcommand with its one-line summary, its heading in the help, and an example.
CLI::App* add_command(
    CLI::App& app, const char* name, const char* summary, const char* heading, const char* example);

// The lines of an error. All ends of lines in it are ours: names and texts of others are printable.
std::vector<std::string> error_lines(std::string_view text);

// Each line of an error on standard error, behind "softalign: " unless it begins with a place in a
// file. Control characters that names bring along are escaped, very long lines shortened.
void print_error(std::string_view text);

}  // namespace softalign::app
