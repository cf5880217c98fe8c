#include "framework/base/json.hpp"

namespace softalign {

bool is_nested_deeper(std::string_view json, int levels) {
  int open = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\')
      ++i;  // what follows is part of the text, a quote too
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == '[' || c == '{') && ++open > levels)
      return true;
    else if (!in_text && (c == ']' || c == '}'))
      --open;
  }
  return false;
}

}  // namespace softalign
