// Subword vocabularies of the SentencePiece library, trained on text or loaded from a model.
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

// Trains a model of at most `size` pieces, including the specials; `model` is "unigram" or "bpe".
// Uses one thread and no sampling, so that the same lines give the same bits. Text is not normalised. The
// library does not report progress, so `progress` receives the elapsed seconds. Throws DataError if
// SentencePiece fails, for example because `size` is too small for the characters.
std::shared_ptr<const Vocabulary> train_sentencepiece(const std::vector<std::string>& lines,
                                                      Index size,
                                                      const std::string& model,
                                                      const Progress& progress = {});

// Loads a vocabulary from the base64 text after the header of a serialized one. Throws DataError for models that
// train_sentencepiece cannot have made; in particular, the library can be misled by a model with a
// precompiled_charsmap.
std::shared_ptr<const Vocabulary> load_sentencepiece(std::string_view base64);

// Loads a vocabulary from the bytes of a model file of any origin. Throws DataError if the model normalises text
// or numbers the special symbols differently.
std::shared_ptr<const Vocabulary> sentencepiece_of(const std::string& model);

// Returns the version of the library that this was built with; another version may segment words differently.
// Empty if built without the library; then the functions above throw DataError.
std::string sentencepiece_version();

}  // namespace softalign
