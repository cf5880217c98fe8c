// JSON as the commands print it with --json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "framework/base/json.hpp"

namespace softalign::app {

using Json = JsonObject;

// Indented, on standard output. Bytes that are no UTF-8 (of file names) become U+FFFD; numbers that
// are not finite become null.
void print_json(const Json& json);
// The same in one line, with its end.
std::string json_line(const Json& json);

// A string as it is, another value as JSON.
std::string text_of(const Json& value);

}  // namespace softalign::app
