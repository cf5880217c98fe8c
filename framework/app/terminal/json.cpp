#include "framework/app/terminal/json.hpp"

#include "framework/app/terminal/terminal.hpp"

namespace softalign::app {

void print_json(const Json& json) {
  write_data(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace softalign::app
