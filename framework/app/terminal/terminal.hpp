// The output of commands: to standard output and standard error, as JSON, and to files named by the user; numbers
// in readable form; and the project's Python scripts, run as commands.
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

// Writes to standard error and ignores failures, because a message that nobody reads must not stop a run.
void write_error(const std::string& text);

// Writes text for people on standard output. All that `printable` escapes is escaped, except line ends and tabs,
// so that names, hosts and texts cannot send control characters to a terminal.
void write_text(std::string_view text);
// Sets when to colour: "auto" (on a terminal, unless $NO_COLOR is set or $TERM is dumb), "always", "never".
void set_colours(const std::string& when);
bool has_colours(int descriptor);
// Returns a text in the colour of an SGR code ("31"), or unchanged if the code is empty.
std::string coloured(std::string_view text, std::string_view sgr);

// Writes a table as write_text does; if standard output has colours, each cell has the SGR code of `colour_of`.
void write_table(std::string_view table,
                 const std::function<std::string(std::string_view cell)>& colour_of);

// Writes data for other programs: unchanged, unless standard output is a terminal.
void write_data(std::string_view text);
template <class... Args>
void print_text(fmt::format_string<Args...> format, Args&&... args) {
  write_text(fmt::format(format, std::forward<Args>(args)...));
}

// Shortens a message to about `most` bytes by omitting its middle, because its beginning says what is wrong and
// its end has the remedy.
std::string shortened(std::string_view text, std::size_t most = 1000);

// Asks a person at a terminal, on standard error; returns false if there is no terminal to answer from.
bool confirmed(const std::string& question);

// Returns whether standard output is a pipe that nobody reads any more.
bool output_is_closed();

// Returns the number of lines of a terminal; 0 if the file descriptor is not a terminal.
std::size_t terminal_lines(int descriptor);

// Formats seconds as "1:23:45" or "12:34".
std::string clock_time(double seconds);
// "3 s", "5 min", "2 h", "40 d".
std::string rough_time(double seconds);
// "834", "12.3k", "4.5M".
std::string rough_count(double count);

// Returns the width of standard output, also for a file or a pipe.
std::size_t output_columns();

// An output file named by the user. All commands follow the rule of scripts/softalign_tools/files.py: a file made
// by softalign is replaced, another file only with --force, and a symbolic link, folder or device never.
struct OutputFile {
  std::string path;  // empty: no file
  bool force = false;

  // Adds the option and --force.
  void add_to(CLI::App& command, const char* option, const char* help);

  // Called before the work. Throws SpecError if the rule forbids writing, or the folder is missing. `ours` returns
  // whether softalign made an existing file; null: not known.
  void check(bool (*ours)(const std::filesystem::path&) = nullptr) const;

  // Writes a text in one step. A file that appeared since `check` is refused in the same way.
  void write(std::string_view text) const;
};

// JSON as the commands print it with --json.
using Json = JsonObject;

// Prints indented JSON on standard output. Bytes that are not UTF-8 (in file names) become U+FFFD; numbers that
// are not finite become null.
inline void print_json(const Json& json) {
  write_data(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}
// Returns JSON on one line, including the line end.
inline std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Returns a string unchanged, any other value as JSON.
inline std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Returns the Python interpreter for scripts: $SOFTALIGN_PYTHON, else that of the active environment, else the
// system's, which has Debian's libraries.
std::string python();

// Returns the command that runs a Python script of the program. Throws MachineError if the script is missing.
std::vector<std::string> script_command(const std::string& name);

// Replaces this process by scripts/<name>, run by python(). The script is installed next to the program (bin/ and
// share/softalign/scripts/) or is in the source tree of the build. Throws MachineError if it is missing or cannot
// be started. `packages`: the Debian packages that it needs, for the message.
[[noreturn]] void become_script(const std::string& name,
                                const std::vector<std::string>& arguments,
                                const std::string& packages);

}  // namespace softalign::app
