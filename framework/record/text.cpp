#include "framework/record/text.hpp"

#include "framework/base/text.hpp"

namespace softalign {

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos &&
         find_invalid_utf8(bytes) == std::string_view::npos;
}

}  // namespace softalign
