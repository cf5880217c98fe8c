// Errors with their exit code. An error names the cause (with file, line and column if known) and
// the remedy.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "framework/base/text.hpp"

namespace softalign {

// The exit statuses of programs; every command uses these and no others.
enum class ExitCode : int {
  done = 0,
  failed = 1,       // our own bug, or the machine failed (disk, memory)
  usage = 2,        // the spec or the command line is invalid
  data = 3,         // the data is wrong or missing
  check = 4,        // a claim, a check or a verification failed
  interrupted = 75  // stopped with the state saved: run again to resume
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

namespace detail {

// The type of an argument as shown in a message. Texts may be untrusted, so they are escaped to one line: only our
// format strings, and our errors inside other errors, may have several lines.
template <class T>
using Shown = std::conditional_t<std::is_convertible_v<T, std::string_view> ||
                                     std::is_base_of_v<Error, std::remove_cvref_t<T>>,
                                 std::string,
                                 T>;

template <class T>
decltype(auto) shown(T&& argument) {
  if constexpr (std::is_base_of_v<Error, std::remove_cvref_t<T>>)
    return std::string(argument.what());
  else if constexpr (std::is_convertible_v<T, std::string_view>)
    return printable(std::string_view(argument), kWhole);
  else
    return std::forward<T>(argument);
}

}  // namespace detail

// The kinds of errors; each is constructed from a format string and its arguments.
template <ExitCode Code>
class ErrorOf : public Error {
 public:
  template <class... Args>
  explicit ErrorOf(fmt::format_string<detail::Shown<Args>...> format, Args&&... args)
      : Error(Code, fmt::format(fmt::runtime(format), detail::shown(std::forward<Args>(args))...)) {
  }
};

using MachineError = ErrorOf<ExitCode::failed>;  // disk full, out of memory, a library failed
using BugError = ErrorOf<ExitCode::failed>;      // an internal invariant is violated
using RunError =
    ErrorOf<ExitCode::failed>;  // training itself went wrong: a loss that is not finite
using SpecError = ErrorOf<ExitCode::usage>;   // wrong spec or command line
using DataError = ErrorOf<ExitCode::data>;    // wrong or missing data
using CheckError = ErrorOf<ExitCode::check>;  // a check, claim or verification failed
using Interrupted = ErrorOf<ExitCode::interrupted>;

// The message of an error with its lines joined by "; ", for use in a sentence.
inline std::string in_one_line(const Error& error) {
  std::string text = error.what();
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, "; ");
  return text;
}

// The message of an exception: unchanged for our errors, escaped to one line for others.
inline std::string message_of(const std::exception& error) {
  return dynamic_cast<const Error*>(&error) ? error.what() : printable(error.what(), kWhole);
}

// A position in a text file; lines and columns count from 1, 0 means "no line" (a default, an override).
struct Position {
  std::string file;
  int line = 0;
  int column = 0;
  std::string reference =
      {};  // "${model.embedding}" if the value there refers to another (interpolate.hpp)

  // "file:line:column" and "file:line", or only the file if there is no line; escaped for messages.
  std::string str() const {
    return line == 0 ? file_and_line() : fmt::format("{}:{}", file_and_line(), column);
  }
  std::string file_and_line() const {
    const std::string name = printable(file, kWhole);
    return line == 0 ? name : fmt::format("{}:{}", name, line);
  }
};

// Returns whether the message itself begins with a position: "configs/x.yaml:12:7: ...".
inline bool begins_with_position(std::string_view message) {
  const std::size_t end = message.find(": ");
  if (end == message.npos) return false;
  const std::string_view place = message.substr(0, end);
  const std::size_t colon = place.rfind(':');
  return colon != place.npos && colon + 1 < place.size() &&
         place.find_first_not_of("0123456789", colon + 1) == place.npos;
}

}  // namespace softalign
