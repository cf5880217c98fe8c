// Bytes as text, in the alphabet of RFC 4648.
#pragma once

#include <string>
#include <string_view>

namespace softalign {

std::string to_base64(const std::string& bytes);
std::string from_base64(std::string_view text);  // empty for text that is not base64

}  // namespace softalign
