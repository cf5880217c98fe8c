#include "framework/record/text.hpp"

#include <utf8.h>

namespace softalign {

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && utf8::is_valid(bytes.begin(), bytes.end());
}

}  // namespace softalign
