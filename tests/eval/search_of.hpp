// Returns a search from its options in YAML: "type: beam, width: 20".
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "framework/config/spec.hpp"
#include "framework/eval/search.hpp"

namespace softalign {

inline std::unique_ptr<Search> search_of(const std::string& yaml) {
  struct One {
    Choice search{.kind = "search"};
    void describe(OptionVisitor& v) { v("search", search, "a search"); }
  };
  return make_plugin<SearchKind>(
      parse_spec<One>("search: {" + yaml + "}", "test").spec.search, std::uint64_t{3}, Index{0});
}

}  // namespace softalign
