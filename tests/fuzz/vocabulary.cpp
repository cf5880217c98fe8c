// Vocabularies of records and cache files, and text in their symbols.
//
// An input is the vocabulary, a line "---", a line of text.
#include "framework/data/vocabulary.hpp"
#include "framework/data/text_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  const std::string serialized = in.part(), line = in.rest();
  accepts([&] {
    const auto vocabulary = load_vocabulary(serialized);
    require(load_vocabulary(vocabulary->serialize())->serialize() == vocabulary->serialize(),
            "a vocabulary reads back otherwise");
    for (Token id = 0; id < vocabulary->size(); ++id) vocabulary->symbol(id);
    check_line(line, "text", 1);
    const std::vector<Token> tokens = vocabulary->encode(line);
    for (const Token token : tokens)
      require(token >= 0 && token < vocabulary->size(), "a symbol that is not there");
    require(vocabulary->split(line).size() == tokens.size(), "split and encode differ");
    const std::vector<Index> words = vocabulary->word_of(line);
    require(words.size() == tokens.size() && std::is_sorted(words.begin(), words.end()),
            "symbols do not stand in the order of their words");
    vocabulary->join(tokens);
  });
  return 0;
}
