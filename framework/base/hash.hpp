// SHA-256 of bytes and files, in lower-case hexadecimal, and base64, both by OpenSSL.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace softalign {

std::array<std::uint8_t, 32> sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
std::string sha256_file(
    const std::filesystem::path& file);  // throws DataError if the file is missing or not regular

// Prefix of a file's digest in texts: "sha256:<hex>".
inline constexpr std::string_view kFileDigest = "sha256:";
std::string file_digest(const std::string& sha256_hex);
bool is_file_digest(std::string_view text);
// Shortens a file digest, but leaves enough to distinguish two files. Other text is unchanged.
std::string short_digest(const std::string& text);

// Base64 in the alphabet of RFC 4648.
std::string to_base64(const std::string& bytes);
std::string from_base64(std::string_view text);  // empty for text that is not base64

}  // namespace softalign
