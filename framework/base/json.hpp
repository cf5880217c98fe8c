// Parses untrusted JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "framework/base/types.hpp"

namespace softalign {

// Members in their order.
using JsonObject = nlohmann::ordered_json;

// The limit on nesting: more than softalign ever writes, and little enough for recursive code.
constexpr int kDeepestJson = 256;

// The most values, names and brackets of a text: more than in anything that softalign writes. Two bytes of
// text become 16 of memory, and the library takes more to destroy them; out of memory there, the program ends.
constexpr std::size_t kMostJson = std::size_t{1} << 22;

// The JSON of a text; discarded, as JSON's own parser has it, where the text is not JSON, is nested deeper than
// kDeepestJson or longer than kMostJson.
template <class Json>
Json read_json(std::string_view text) {
  using Step = typename Json::parse_event_t;
  bool large = false;
  std::size_t parts = 0;
  const auto keep = [&](int depth, Step step, Json&) {
    large |= depth >= kDeepestJson && (step == Step::array_start || step == Step::object_start);
    large |= ++parts > kMostJson;
    return !large;
  };
  Json json = Json::parse(text, keep, false);
  if (large) json = Json::value_t::discarded;
  return json;
}

// A whole number. Throws JSON's own exception for anything else, because converting a number that
// no integer can represent is undefined.
template <class Json>
Index whole_number(const Json& json) {
  return json.template get_ref<const typename Json::number_integer_t&>();
}

}  // namespace softalign
