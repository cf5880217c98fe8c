// Reads existing vocabularies for a run on other text: those of a record, or one in a file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "framework/config/options.hpp"
#include "framework/data/cache.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // one object where both sides share it
  FrameStatistics statistics = {};                   // of frames, in place of source
};

// The vocabularies of a record or a run's folder (source: null if its sources are frames); or of a file, one for
// both sides: a sentencepiece model, or one word per line. Throws DataError.
Vocabularies read_vocabularies(const std::filesystem::path& path);

// The hash of an input file, as `of_bytes` has it; of a record, and of a run's folder, that of its vocabularies. An
// HDF5 file that softalign did not write has the hash of its bytes.
std::string input_hash(const InputFile& file,
                       std::string (*of_bytes)(const InputFile&) = remembered_hash);

}  // namespace softalign
