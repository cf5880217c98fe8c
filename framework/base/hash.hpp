// SHA-256 of bytes and files, as lower-case hexadecimal (OpenSSL does the work).
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
    const std::filesystem::path& file);  // throws DataError when it cannot be read

}  // namespace softalign
