// A checksum behind the bytes of a file that others read too: HDF5 never looks beyond the end that
// its own header names. It lets damage be found before a library that trusts every byte reads it.
#pragma once

#include <filesystem>
#include <string>

namespace softalign {

// The bytes with their seal behind them: "SOFTSEAL", u64 number of bytes, u32 CRC-32 (zlib's).
std::string sealed(std::string bytes);

// Absent: older files have none, and another program that changes the file takes it off. Broken: the
// bytes are not those that were sealed.
enum class Seal { absent, whole, broken };

// Throws DataError, or MachineError when the machine is to blame, if the file cannot be read.
Seal seal_of(const std::filesystem::path& file);

}  // namespace softalign
