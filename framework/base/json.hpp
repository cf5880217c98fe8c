// Parses untrusted JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "framework/base/types.hpp"

namespace softalign {

// JSON whose objects keep the order of their members.
using JsonObject = nlohmann::ordered_json;

// The limit on nesting: deeper than softalign ever writes, and shallow enough for recursive code.
constexpr int kDeepestJson = 256;

// The limit on values, names and brackets of a text; softalign writes fewer. Two bytes of text become 16 bytes of
// memory, and the library needs more to destroy them; if memory runs out then, the program ends.
constexpr std::size_t kMostJson = std::size_t{1} << 22;

// Parses a text. Returns the library's "discarded" value if the text is not JSON, is nested deeper than kDeepestJson
// or has more than kMostJson parts.
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

// Returns a whole number. Throws the JSON library's exception for anything else, because converting
// a number that no integer can represent is undefined.
template <class Json>
Index whole_number(const Json& json) {
  return json.template get_ref<const typename Json::number_integer_t&>();
}

}  // namespace softalign
