// The SHA-256 of files that are large and seldom change: remembered in the cache folder with size,
// times and inode, as git's index does, so that opening a corpus does not read it.
#pragma once

#include <string>

#include "framework/config/options.hpp"

namespace softalign {

// The hash of the bytes, read unless the file is as it was when they were last read. That is
// believed when its path, device, inode, size, time of change of content and of inode (which no
// program can set) are the same, to the nanosecond. A file that changed in the last seconds before
// it was read is not remembered: it may change again within one tick of the clock. Throws as
// hash_of_file.
std::string remembered_hash(const InputFile& file);

// The same, always read; what was remembered is corrected.
std::string read_hash(const InputFile& file);

}  // namespace softalign
