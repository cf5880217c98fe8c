#include "framework/base/hash.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <algorithm>
#include <memory>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
      throw MachineError("SHA-256 is not available from OpenSSL");
  }
  void add(const void* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::array<std::uint8_t, 32> finish() {
    std::array<std::uint8_t, 32> out{};
    EVP_DigestFinal_ex(context_.get(), out.data(), nullptr);
    return out;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

std::string hex(const std::array<std::uint8_t, 32>& digest) {
  std::string out;
  for (std::uint8_t byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.finish();
}

std::string sha256_hex(std::string_view bytes) { return hex(sha256(bytes)); }

std::string sha256_file(const std::filesystem::path& file) {
  demand_regular_file(file);
  const RegularFile bytes(file);
  Digest digest;
  std::vector<char> buffer(1 << 16);
  std::uint64_t at = 0;
  while (const std::size_t got = bytes.read(buffer.data(), buffer.size(), at)) {
    digest.add(buffer.data(), got);
    at += got;
  }
  return hex(digest.finish());
}

std::string file_digest(const std::string& sha256_hex) {
  return std::string(kFileDigest) + sha256_hex;
}

bool is_file_digest(std::string_view text) { return text.starts_with(kFileDigest); }

std::string short_digest(const std::string& text) {
  return is_file_digest(text) ? text.substr(0, kFileDigest.size() + 8) : text;
}

std::string to_base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL appends a NUL
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
