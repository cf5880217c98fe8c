#include "framework/base/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>

#include "framework/base/types.hpp"

namespace softalign {

std::string to_base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // EVP ends it with NUL
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::string from_base64(std::string_view text) {
  std::string bytes(3 * (text.size() / 4), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  const auto padding = usize(std::count(text.begin(), text.end(), '='));
  if (size < 0 || padding > bytes.size()) return {};
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace softalign
