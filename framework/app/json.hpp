// JSON as the commands print it with --json.
#pragma once

#include <nlohmann/json.hpp>

namespace softalign::app {

using Json = nlohmann::ordered_json;

// Indented, on standard output. Bytes that are no UTF-8 (of file names) become U+FFFD; numbers that
// are not finite become null.
void print_json(const Json& json);

}  // namespace softalign::app
