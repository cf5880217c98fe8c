// Reads existing vocabularies, from a record or a file, for a run on other text.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "framework/config/options.hpp"
#include "framework/data/cache.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // the same object if both sides share it
  FrameStatistics statistics = {};                   // of frames, which have no vocabulary
};

// Reads the vocabularies of a record or a run's folder (source: null if its sources are frames), or one for both
// sides from a file: a sentencepiece model, or one word per line. Throws DataError.
Vocabularies read_vocabularies(const std::filesystem::path& path);

// Returns the hash of an input file: for a record or a run's folder, of its vocabularies; for all other files,
// including HDF5 files that softalign did not write, `of_bytes(file)`.
std::string input_hash(const InputFile& file,
                       std::string (*of_bytes)(const InputFile&) = remembered_hash);

}  // namespace softalign
