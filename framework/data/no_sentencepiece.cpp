// Stands for data/sentencepiece.cpp where CMake did not find the library.
#include "framework/base/error.hpp"
#include "framework/data/sentencepiece.hpp"

namespace softalign {

std::shared_ptr<const Vocabulary> train_sentencepiece(const std::vector<std::string>&,
                                                      Index,
                                                      const std::string&,
                                                      const Progress&) {
  throw DataError("{}", kNoSentencepiece);
}

std::shared_ptr<const Vocabulary> load_sentencepiece(std::string_view) {
  throw DataError("{}", kNoSentencepiece);
}

std::shared_ptr<const Vocabulary> sentencepiece_of(const std::string&) {
  throw DataError("{}", kNoSentencepiece);
}

std::string sentencepiece_version() { return ""; }

}  // namespace softalign
