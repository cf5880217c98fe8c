// The output of commands: to standard output and standard error, as JSON, and to files that their user names;
// numbers as people read them; and the project's Python scripts as commands.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/json.hpp"
#include "framework/base/text.hpp"

namespace softalign::app {

// To standard error, as far as it can be written: a message that nobody reads stops no run.
void write_error(const std::string& text);

// For people, on standard output. Nothing that names, hosts or texts bring along reaches a terminal:
// what printable escapes is escaped, but the ends of lines and tabulators.
void write_text(std::string_view text);
// When to colour: "auto" (on a terminal, unless $NO_COLOR is set or $TERM is dumb), "always", "never".
void set_colours(const std::string& when);
bool has_colours(int descriptor);
// A text in a colour, by the number of its SGR sequence ("31"); as it is where that is empty.
std::string coloured(std::string_view text, std::string_view sgr);

// A table, as write_text has it; where standard output has colours, each cell in that of `colour_of`.
void write_table(std::string_view table,
                 const std::function<std::string(std::string_view cell)>& colour_of);

// For other programs: as it is, unless standard output is a terminal.
void write_data(std::string_view text);
template <class... Args>
void print_text(fmt::format_string<Args...> format, Args&&... args) {
  write_text(fmt::format(format, std::forward<Args>(args)...));
}

// A message of at most `most` bytes, the middle of a longer one left out: what is wrong stands at
// its beginning, the remedy at its end.
std::string shortened(std::string_view text, std::size_t most = 1000);

// Asks a person at a terminal, on standard error; false where nobody is there to answer.
bool confirmed(const std::string& question);

// Returns whether standard output is a pipe that nobody reads any more.
bool output_is_closed();

// Lines of the terminal behind a file descriptor; 0 when it is none.
std::size_t terminal_lines(int descriptor);

// "1:23:45", "12:34", from seconds.
std::string clock_time(double seconds);
// "3 s", "5 min", "2 h", "40 d".
std::string rough_time(double seconds);
// "834", "12.3k", "4.5M".
std::string rough_count(double count);

// A file that a command writes where its user says. One law for all of them, that of
// scripts/softalign_tools/files.py: what softalign made is replaced, anything else needs
// --force; a symbolic link, a folder or a device never is.
struct OutputFile {
  std::string path;  // empty: none is wanted
  bool force = false;

  // The option and --force.
  void add_to(CLI::App& command, const char* option, const char* help);

  // Before the work. Throws SpecError where the law forbids to write, or its folder is not there. `ours`
  // returns whether softalign made the file that is there; by default nobody knows.
  void check(bool (*ours)(const std::filesystem::path&) = nullptr) const;

  // Writes a text, in one step. Somebody may have made the file since `check`: that is refused as there.
  void write(std::string_view text) const;
};

// JSON as the commands print it with --json.
using Json = JsonObject;

// Indented, on standard output. Bytes that are no UTF-8 (of file names) become U+FFFD; numbers that
// are not finite become null.
inline void print_json(const Json& json) {
  write_data(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}
// JSON in one line, with its end.
inline std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A string as it is, another value as JSON.
inline std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The Python that runs scripts: $SOFTALIGN_PYTHON, else that of the active environment, else the
// system's, which has Debian's libraries.
std::string python();

// The words that start a Python script that comes with the program. Throws MachineError if it is not there.
std::vector<std::string> script_command(const std::string& name);

// Ends this program and becomes scripts/<name>, run by python(): installed beside the
// program (bin/ and share/softalign/scripts/), or in the source tree that it was built in. Throws
// MachineError when it is not there. `packages`: Debian's, that it needs, for the message.
[[noreturn]] void become_script(const std::string& name,
                                const std::vector<std::string>& arguments,
                                const std::string& packages);

}  // namespace softalign::app
