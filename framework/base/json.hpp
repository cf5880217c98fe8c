// JSON that others may have written.
#pragma once

#include <string_view>

#include "framework/base/types.hpp"

namespace softalign {

// The most that lists and objects are nested: more than in anything that softalign writes, and
// little enough for what follows them by calling itself.
constexpr int kDeepestJson = 256;

// What a text holds; discarded, as JSON's own parser has it, where that is no JSON or nested deeper
// than kDeepestJson.
template <class Json>
Json read_json(std::string_view text) {
  using Step = typename Json::parse_event_t;
  bool deep = false;
  const auto keep = [&](int depth, Step step, Json&) {
    deep |= depth >= kDeepestJson && (step == Step::array_start || step == Step::object_start);
    return !deep;
  };
  Json json = Json::parse(text, keep, false);
  if (deep) json = Json::value_t::discarded;
  return json;
}

// A whole number. JSON's own exception for anything else: what it makes of a real number that no
// integer can hold is undefined.
template <class Json>
Index whole_number(const Json& json) {
  return json.template get_ref<const typename Json::number_integer_t&>();
}

}  // namespace softalign
