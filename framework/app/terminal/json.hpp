// JSON as the commands print it with --json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "framework/app/terminal/terminal.hpp"
#include "framework/base/json.hpp"

namespace softalign::app {

using Json = JsonObject;

// Indented, on standard output. Bytes that are no UTF-8 (of file names) become U+FFFD; numbers that
// are not finite become null.
inline void print_json(const Json& json) {
  write_data(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}
// The same in one line, with its end.
inline std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A string as it is, another value as JSON.
inline std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace softalign::app
