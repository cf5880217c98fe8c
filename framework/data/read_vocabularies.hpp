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
};

// The vocabularies of a record or a run's folder; or of a file, one for both sides: a sentencepiece model,
// or one word per line. Throws DataError.
Vocabularies read_vocabularies(const std::filesystem::path& path);

// The hash of an input file, as `of_bytes` has it; of a record, and of a run's folder, that of its vocabularies.
std::string input_hash(const InputFile& file,
                       std::string (*of_bytes)(const InputFile&) = remembered_hash);

}  // namespace softalign
