// Task parallel_text: sentence pairs from two files whose lines match, with word links from a third
// where there are any.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/data/alignment_file.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/data/task.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"

namespace softalign {
namespace {

struct Files {
  InputFile source;
  InputFile target;
  InputFile alignment;

  template <class V>
  void describe(V& v) {
    v("source", source, "one sentence a line, plain or gzip", required());
    v("target", target, "the translations, line by line", required());
    v("alignment", alignment, "word links, i-j sure, ipj possible, from 0 (optional)");
  }
};

struct ParallelTextOptions {
  Files train;
  Files dev;
  Files test;
  VocabularyOptions vocabulary;
  Index max_length = 50;
  std::optional<Index> max_length_test;
  std::string too_long = "drop";

  template <class V>
  void describe(V& v) {
    v("train", train, "files to train on");
    v("dev", dev, "files to stop by");
    v("test", test, "files to test on");
    v("vocabulary", vocabulary, "symbols, made from the training text that is kept");
    v("max_length",
      max_length,
      "longest training sentence, tokens on either side",
      between(1, kLongestSentence));
    v("max_length_test",
      max_length_test,
      "the same for dev and test; null: any length",
      between(1, kLongestSentence));
    v("too_long",
      too_long,
      "what happens to longer pairs; both are counted",
      one_of("drop", "truncate"));
  }
};

// A pair as read; links are between words.
struct Pair {
  std::string source;
  std::string target;
  std::vector<Link> links;
  Index line = 0;

  bool empty() const { return split_words(source).empty() || split_words(target).empty(); }
};

Index count_lines(TextFile& file) {
  std::string line;
  while (file.next(line)) {
  }
  return file.line_number();
}

// Both files have been read to the end of the shorter one.
[[noreturn]] void refuse_lengths(TextFile& a, TextFile& b) {
  const Index lines = count_lines(a);
  throw DataError("{} has {} lines and {} has {}; line k of one must belong to line k of the other",
                  a.path(),
                  lines,
                  b.path(),
                  count_lines(b));
}

std::vector<Pair> read_pairs(const Files& files,
                             const std::string& name,
                             const Progress& progress) {
  TextFile source(files.source.path);
  TextFile target(files.target.path);
  std::optional<TextFile> alignment;
  if (!files.alignment.path.empty()) alignment.emplace(files.alignment.path);

  std::vector<Pair> pairs;
  Pair pair;
  std::string links;
  for (;;) {
    const bool more = source.next(pair.source);
    if (target.next(pair.target) != more) refuse_lengths(source, target);
    if (alignment && alignment->next(links) != more) refuse_lengths(source, *alignment);
    if (!more) break;
    pair.line = source.line_number();
    if (alignment)
      pair.links = parse_links(links,
                               std::ssize(split_words(pair.source)),
                               std::ssize(split_words(pair.target)),
                               alignment->path(),
                               pair.line);
    pairs.push_back(pair);
    if (progress && pair.line % 4096 == 0) progress("reading " + name, pair.line, 0);
  }
  return pairs;
}

// How long a pair may be, and the option that says so.
struct Longest {
  std::string_view option;
  Index tokens;
};

[[noreturn]] void refuse_nothing_left(const Files& files,
                                      const SplitCounts& counts,
                                      const Longest& longest) {
  const std::string start = fmt::format(
      "{}: none of its {} lines is left: ", printable(files.source.path, kWhole), counts.read);
  if (counts.dropped_too_long == 0)
    throw DataError("{}each is empty here or in {}; name the files of one text in two languages",
                    start,
                    printable(files.target.path, kWhole));
  throw DataError("{}{} too long ({} is {}), {} empty; raise {} or set too_long: truncate",
                  start,
                  counts.dropped_too_long,
                  longest.option,
                  longest.tokens,
                  counts.dropped_empty,
                  longest.option);
}

// One side of a pair as symbols, at most `most` of them.
struct Side {
  std::vector<Token> tokens;
  std::vector<Index> word_of;
  std::string text;
  bool cut = false;

  Side(const Vocabulary& vocabulary,
       const InputFile& file,
       Index number,
       const std::string& line,
       Index most)
      : tokens(vocabulary.encode(line)), word_of(vocabulary.word_of(line)), text(line) {
    if (std::ssize(tokens) > kLongestSentence)
      throw DataError("{}:{}: {} tokens as {}, more than {}; put one sentence on each line",
                      file.path,
                      number,
                      tokens.size(),
                      vocabulary.type(),
                      kLongestSentence);
    if (std::ssize(tokens) <= most) return;
    cut = true;
    tokens.resize(static_cast<std::size_t>(most));
    word_of.resize(tokens.size());
    text = first_words(line, word_of.back() + 1);
  }
};

class ParallelText final : public Task {
 public:
  using Options = ParallelTextOptions;
  explicit ParallelText(const Options& options) : options_(options) {}

  Dataset load(std::uint64_t, const Progress& progress) const override {
    Dataset data;
    const std::vector<Pair> train = read_pairs(options_.train, "train", progress);
    if (progress) progress("building the vocabularies", 0, 0);
    make_vocabularies(train, data);

    data.train = encode("train", options_.train, train, for_training(), data);
    data.dev = encode(
        "dev", options_.dev, read_pairs(options_.dev, "dev", progress), for_measuring(), data);
    data.test = encode(
        "test", options_.test, read_pairs(options_.test, "test", progress), for_measuring(), data);
    data.has_links = !options_.test.alignment.path.empty();
    return data;
  }

 private:
  Longest for_training() const { return {"max_length", options_.max_length}; }
  Longest for_measuring() const {
    return {"max_length_test", options_.max_length_test.value_or(kLongestSentence)};
  }

  bool truncates() const { return options_.too_long == "truncate"; }

  // Pieces are known only after their model is trained, and a sentence has at least as many pieces
  // as words: so their training text is measured in words.
  void make_vocabularies(const std::vector<Pair>& train, Dataset& data) const {
    VocabularyOptions measure = options_.vocabulary;
    if (measure.type == "sentencepiece") measure = {};
    const auto ruler = build_vocabulary(measure, {});

    std::vector<std::string> sources, targets;
    SplitCounts counts;
    for (const Pair& pair : train) {
      ++counts.read;
      if (pair.empty()) {
        ++counts.dropped_empty;
        continue;
      }
      const Side source(*ruler, options_.train.source, pair.line, pair.source, options_.max_length);
      const Side target(*ruler, options_.train.target, pair.line, pair.target, options_.max_length);
      if ((source.cut || target.cut) && !truncates()) {
        ++counts.dropped_too_long;
        continue;
      }
      sources.push_back(source.text);
      targets.push_back(target.text);
    }
    if (sources.empty()) refuse_nothing_left(options_.train, counts, for_training());
    data.source = vocabulary_of(options_.train.source, sources);
    data.target = vocabulary_of(options_.train.target, targets);
  }

  std::shared_ptr<const Vocabulary> vocabulary_of(const InputFile& file,
                                                  const std::vector<std::string>& lines) const {
    try {
      return build_vocabulary(options_.vocabulary, lines);
    } catch (const DataError& error) {
      throw DataError("{}: {}", printable(file.path, kWhole), error.what());
    }
  }

  Split encode(const std::string& name,
               const Files& files,
               const std::vector<Pair>& pairs,
               Longest longest,
               const Dataset& data) const {
    Split split;
    split.name = name;
    split.counts.read = std::ssize(pairs);
    for (const Pair& pair : pairs) {
      if (pair.empty()) {
        ++split.counts.dropped_empty;
        continue;
      }
      Side source(*data.source, files.source, pair.line, pair.source, longest.tokens);
      Side target(*data.target, files.target, pair.line, pair.target, longest.tokens);
      if (source.cut || target.cut) {
        if (!truncates()) {
          ++split.counts.dropped_too_long;
          continue;
        }
        ++split.counts.truncated;
      }
      std::vector<Link> links = spread_links(pair.links, source.word_of, target.word_of);
      split.examples.push_back({std::move(source.tokens),
                                std::move(target.tokens),
                                std::move(links),
                                std::move(source.text),
                                std::move(target.text)});
    }
    split.counts.kept = std::ssize(split.examples);
    if (split.counts.kept == 0) refuse_nothing_left(files, split.counts, longest);
    return split;
  }

  Options options_;
};

SOFTALIGN_TASK("parallel_text",
               ParallelText,
               "translations from two files, with word links where known");

}  // namespace
}  // namespace softalign
