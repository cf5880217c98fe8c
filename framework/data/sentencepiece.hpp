// Subword vocabularies by the SentencePiece library: trained from text, or loaded from a model.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

inline constexpr const char* kNoSentencepiece =
    "this program was built without sentencepiece; install libsentencepiece-dev (Debian) and build "
    "it again";

// Trains a model of at most `size` pieces, the specials included; `model` is "unigram" or "bpe".
// One thread and no sampling: the same lines give the same bits. Text is not normalised. The
// library does not report progress, so `progress` receives the elapsed seconds. Throws DataError if
// SentencePiece refuses, for example if `size` is too small for the characters.
std::shared_ptr<const Vocabulary> train_sentencepiece(const std::vector<std::string>& lines,
                                                      Index size,
                                                      const std::string& model,
                                                      const Progress& progress = {});

// A vocabulary from the base64 text after the header of a serialized one. Throws DataError for what
// train_sentencepiece does not make: with a model that has a precompiled_charsmap the library can be led
// astray.
std::shared_ptr<const Vocabulary> load_sentencepiece(std::string_view base64);

// A vocabulary from the bytes of a model file of any origin. Throws DataError where it does not take text as
// written, or numbers the special symbols in another way.
std::shared_ptr<const Vocabulary> sentencepiece_of(const std::string& model);

// The version of the library that this was built with; another may segment words differently. Empty:
// built without it, and the functions above throw DataError.
std::string sentencepiece_version();

}  // namespace softalign
