// What may be read as a file: something that has an end and reads the same twice.
#pragma once

#include <filesystem>

namespace softalign {

// Throws DataError "train.en: is a directory; name a file": for what is not there, and for
// directories, pipes and devices. Opens nothing, so a pipe that nobody writes to does not block.
void demand_regular_file(const std::filesystem::path& file);

}  // namespace softalign
