// The input of translate: lines from bytes that arrive in pieces, translated with a small model.
//
// An input is u8, the size of the pieces, then the text.
#include "framework/data/batches.hpp"
#include "framework/data/text_file.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/search.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/train/small_trainer.hpp"

using namespace softalign;
using namespace softalign::fuzz;

namespace {

Lines lines_of(std::string_view text, std::size_t piece) {
  LineReader reader("standard input", [&](std::span<char> buffer) {
    const std::size_t n = std::min({piece, buffer.size(), text.size()});
    text.copy(buffer.data(), n);
    text.remove_prefix(n);
    return n;
  });
  Lines read;
  std::string line;
  read.whole = accepts([&] {
    while (reader.next(line)) read.lines.push_back(line);
  });
  return read;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto vocabulary = std::make_shared<CharacterVocabulary>(
      "characters", std::vector<std::string>{"a", "b", "c", "d", "\xE2\x96\x81", "\xC3\xA9"});
  static const std::unique_ptr<Model> model = [] {
    test::SmallTrainer small;
    small.data.source = small.data.target = vocabulary;
    return make_model(small.spec, small.data);
  }();
  static const auto search = make_plugin<SearchKind>(
      Choice{.kind = "search", .type = "greedy"}, std::uint64_t{1}, Index{0});
  Input in(data, size);
  const std::size_t piece = 1 + in.below(255);
  const std::string text = in.rest();
  const Lines read = lines_of(text, piece);
  require(read == lines_of(text, text.size() + 1), "pieces change the lines");
  Split split;
  for (const std::string& line : read.lines) {
    require(line.find('\n') == line.npos, "a line of two lines");
    const std::vector<Token> tokens = vocabulary->encode(line);
    if (!tokens.empty() && tokens.size() <= 64 && split.examples.size() < 8)
      split.examples.append({.source = tokens});
  }
  const Scorer scorer(*model);
  for (const std::span<const Index> chosen : evaluation_batches(split, 4)) {
    const Batch batch = make_batch(split, chosen);
    Tape tape(Tape::Mode::infer);
    for (const auto& found : search->run(scorer, tape, batch.source_side()))
      vocabulary->join(found.front().tokens);
  }
  return 0;
}
