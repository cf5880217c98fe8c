// Task parallel_text: sentence pairs from two files whose lines match, with optional word links from a third.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/data/cache.hpp"
#include "framework/data/parallel_text_options.hpp"
#include "framework/data/read_vocabularies.hpp"
#include "framework/data/sentencepiece.hpp"
#include "framework/data/task.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"

namespace softalign {
namespace {

// Must be increased when the same files and options give different examples than before, because
// existing caches follow the old rules. A test detects such a change.
constexpr int kRules = 2;

constexpr Index kReportLines = 4096;  // lines between two progress reports

// Before the text is read, only the allowed lengths are known.
DataOutline::SplitOutline outline_of(bool references, bool links, Index longest) {
  const DataOutline::Lengths lengths{.longest = longest};
  return {.references = references, .links = links, .source = lengths, .target = lengths};
}
DataOutline::SplitOutline outline_of(const TextFiles& files, Index longest) {
  return outline_of(given(files.target), given(files.alignment), longest);
}

// The length limit of a pair, and the option that sets it.
struct Longest {
  std::string_view option;
  Index tokens;
};

[[noreturn]] void refuse_nothing_left(const TextFiles& files,
                                      const SplitCounts& counts,
                                      const Longest& longest) {
  const std::string start = fmt::format(
      "{}: none of its {} lines can be used: ", printable(files.source.path, kWhole), counts.read);
  if (counts.dropped_too_long == 0)
    throw DataError("{}each has an empty side{}; name the files of one text in two languages",
                    start,
                    given(files.target) ? " or in " + printable(files.target.path, kWhole) : "");
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
  std::vector<Index> word_of;  // only if linked or cut
  std::string text;
  bool cut = false;

  Side(const Vocabulary& vocabulary,
       const InputFile& file,
       Index number,
       const std::string& line,
       Index most,
       bool linked = false)
      : tokens(vocabulary.encode(line)), text(line) {
    if (std::ssize(tokens) > kLongestSentence)
      throw DataError("{}:{}: {} tokens as {}, more than {}; put one sentence on each line",
                      file.path,
                      number,
                      tokens.size(),
                      vocabulary.type(),
                      kLongestSentence);
    cut = std::ssize(tokens) > most;
    if (cut || linked) word_of = vocabulary.word_of(line);
    if (!cut) return;
    tokens.resize(usize(most));
    word_of.resize(tokens.size());
    text = first_words(line, word_of.back() + 1);
  }
};

class ParallelText final : public Task {
 public:
  using Options = ParallelTextOptions;
  explicit ParallelText(const Options& options) : options_(options) {}
  DataOutline outline() const override {
    const bool made = !given(options_.vocabulary.from);
    return {.source_symbols = made ? options_.vocabulary.size : 0,
            .target_symbols = made ? options_.vocabulary.of_target().size : 0,
            .one_vocabulary = !made || options_.vocabulary.one(),
            .train = outline_of(true, !options_.train.alignment.empty(), options_.max_length),
            .dev = outline_of(options_.dev, options_.max_length_test.value_or(0)),
            .test = outline_of(options_.test, options_.max_length_test.value_or(0)),
            .held = !cache_folder() || options_.vocabulary.dropout.has_value()};
  }

  Dataset load(std::uint64_t, const Progress& progress) const override {
    Hashes hashes;
    Dataset made = cached_dataset(
        identity(hashes),
        [&](Dataset& data, const Emit& emit) {
          read(data, emit, progress);
          for (const auto& [path, hash] : hashes)
            if (input_hash({path}, read_hash) != hash)
              throw DataError("{}: changed while it was read; run the same command again",
                              printable(path, kWhole));
        },
        progress);
    if (options_.train.weights) weigh(made, *options_.train.weights);
    made.subword_dropout = options_.vocabulary.dropout.value_or(0);
    const auto merges = [](const Vocabulary& side) { return side.type() == "sentencepiece"; };
    if (made.subword_dropout > 0 && !(merges(*made.source) && merges(*made.target)))
      throw DataError("task.vocabulary.dropout: {} has no pieces of words",
                      options_.vocabulary.from.path);
    if (subwords()) {
      const VocabularyOptions of_target = options_.vocabulary.of_target();
      note_size(made, "source", *made.source, options_.vocabulary.size);
      if (!options_.vocabulary.one()) note_size(made, "target", *made.target, of_target.size);
    }
    return made;
  }
  Dataset load_to_measure(std::uint64_t,
                          const std::string& split,
                          const Vocabularies& vocabularies,
                          const Progress& progress) const override {
    Dataset data;
    data.source = vocabularies.source;
    data.target = vocabularies.target;
    const bool is_dev = split == "dev";
    const TextFiles& files = is_dev ? options_.dev : options_.test;
    data.has_links = given(files.alignment);
    Split& read = is_dev ? data.dev : data.test;
    read.name = split;
    const auto emit = [](Split& to, const Example& example) { to.examples.append(example); };
    encode(read, {files}, for_measuring(), data, emit, progress);
    return data;
  }
  bool has_to_train_subwords() const override { return subwords() && !is_read(); }
  bool is_read() const override {
    Hashes hashes;
    return is_cached(identity(hashes));
  }
  void check_files() const override {
    std::vector<TextFiles> all = options_.train.texts();
    all.insert(all.end(), {options_.dev, options_.test});
    const MarkedSides marked = marked_sides();
    for (const TextFiles& files : all) {
      PairReader reader = reader_of(files, marked);
      for (Pair pair; reader.next(pair);) {
      }
    }
  }

 private:
  using Hashes = std::map<std::string, std::string>;  // of the files, by path

  static PairReader reader_of(const TextFiles& files, MarkedSides marked) {
    const std::string &source = files.source.path, &target = files.target.path;
    return {
        source, target, files.alignment.path, marked, files.reference_paths(), files.clusters.path};
  }
  static MarkedSides marked_by(const Vocabularies& both) {
    return {both.source->marks_spaces(), both.target->marks_spaces()};
  }
  // The sides that mark spaces, before the vocabularies are built.
  MarkedSides marked_sides() const {
    const bool marked = options_.vocabulary.type != "words";
    return given(options_.vocabulary.from) ? marked_by(given_vocabularies())
                                           : MarkedSides{marked, marked};
  }
  Vocabularies given_vocabularies() const {
    Vocabularies both = read_vocabularies(options_.vocabulary.from.path);
    if (!both.source)
      throw DataError(
          "task.vocabulary.from: the sources of {} are frames, so it has no source "
          "vocabulary",
          options_.vocabulary.from.path);
    if (const InputFile& of_target = options_.vocabulary.target_from; given(of_target))
      both.target = read_vocabularies(of_target.path).target;
    return both;
  }

  // Returns whether a sub-word model is trained.
  bool subwords() const {
    return options_.vocabulary.type == "sentencepiece" && !given(options_.vocabulary.from);
  }

  // Identifies the cached examples, which contain each example once: without weights and dropout.
  std::string identity(Hashes& hashes) const {
    Options cached = options_;
    cached.train.weights.reset();
    cached.vocabulary.dropout.reset();
    return fmt::format("parallel_text {}\nsentencepiece {}\n{}",
                       kRules,
                       sentencepiece_version(),
                       canonical_json(cached, [&](const InputFile& file) {
                         return hashes[file.path] = input_hash(file);
                       }));
  }

  void weigh(Dataset& data, const std::vector<double>& weights) const {
    std::vector<Portion>& portions = data.train.portions;
    if (portions.empty()) portions.push_back({std::ssize(data.train.examples)});
    if (weights.size() != portions.size())
      throw DataError("task.train.weights: {} of them, but {} of source",
                      weights.size(),
                      counted(portions.size(), "file"));
    std::string note = "training sentences of an epoch:";
    for (std::size_t k = 0; k < portions.size(); ++k) {
      portions[k].weight = weights.at(k);
      note += fmt::format("{} {} x {} of {}",
                          k > 0 ? "," : "",
                          portions[k].examples,
                          weights[k],
                          printable(fs::path(options_.train.source[k].path).filename().string()));
    }
    if (examples_per_epoch(data.train) == 0)
      throw DataError("task.train.weights: too small to leave a sentence of {}; raise them",
                      data.train.counts.kept);
    data.notes.push_back(note);
  }

  static void note_size(Dataset& data, const char* side, const Vocabulary& made, Index asked) {
    if (made.size() != asked)
      data.notes.push_back(fmt::format(
          "{} vocabulary: {} symbols, although {} were requested", side, made.size(), asked));
  }

  void read(Dataset& data, const Emit& emit, const Progress& progress) const {
    data.has_links = !options_.test.alignment.path.empty();
    data.train.name = "train";
    data.dev.name = "dev";
    data.test.name = "test";
    data.train.counts.read = make_vocabularies(data, progress);
    encode(data.train, options_.train.texts(), for_training(), data, emit, progress);
    encode(data.dev, {options_.dev}, for_measuring(), data, emit, progress);
    encode(data.test, {options_.test}, for_measuring(), data, emit, progress);
  }

  Longest for_training() const { return {"max_length", options_.max_length}; }
  Longest for_measuring() const {
    return {"max_length_test", options_.max_length_test.value_or(kLongestSentence)};
  }

  bool truncates() const { return options_.too_long == "truncate"; }

  // Returns the number of training lines; 0: not counted. Pieces are known only after their model is trained,
  // and a sentence has at least as many pieces as words, so their training text is measured in words.
  Index make_vocabularies(Dataset& data, const Progress& progress) const {
    if (given(options_.vocabulary.from)) {
      const Vocabularies both = given_vocabularies();
      data.source = both.source;
      data.target = both.target;
      return 0;
    }
    VocabularyOptions measure = options_.vocabulary;
    if (measure.type == "sentencepiece") measure = {};
    const auto ruler = build_vocabulary(measure, {});
    const auto sources = vocabulary_builder(options_.vocabulary);
    const auto targets = vocabulary_builder(options_.vocabulary.of_target());
    VocabularyBuilder& of_targets = options_.vocabulary.one() ? *sources : *targets;

    Index lines = 0;
    if (options_.train.source.empty()) throw DataError("task.train.source names no file");
    for (const TextFiles& files : options_.train.texts()) {
      PairReader reader = reader_of(files, marked_sides());
      SplitCounts counts;
      for (Pair pair; reader.next(pair);) {
        ++counts.read;
        ++lines;
        if (progress && lines % kReportLines == 0)
          progress("reading train for its vocabularies", lines, 0);
        if (pair.empty()) {
          ++counts.dropped_empty;
          continue;
        }
        const Side source(*ruler, files.source, pair.line, pair.source, options_.max_length);
        const Side target(*ruler, files.target, pair.line, pair.target, options_.max_length);
        if ((source.cut || target.cut) && !truncates()) {
          ++counts.dropped_too_long;
          continue;
        }
        ++counts.kept;
        sources->add(source.text);
        of_targets.add(target.text);
      }
      if (counts.kept == 0) refuse_nothing_left(files, counts, for_training());
    }
    if (progress) progress("building the vocabularies", 0, 0);
    data.source = finish(*sources, options_.train.source.front(), progress);
    data.target = options_.vocabulary.one()
                      ? data.source
                      : finish(*targets, options_.train.target.front(), progress);
    return lines;
  }

  static std::shared_ptr<const Vocabulary> finish(VocabularyBuilder& builder,
                                                  const InputFile& file,
                                                  const Progress& progress) {
    try {
      return builder.finish(progress);
    } catch (const DataError& error) {
      throw DataError("{}: {}", printable(file.path, kWhole), error.what());
    }
  }

  // split.counts.read: the number of lines, for progress reports; 0: unknown.
  void encode(Split& split,
              const std::vector<TextFiles>& texts,
              Longest longest,
              const Dataset& data,
              const Emit& emit,
              const Progress& progress) const {
    const Index lines = std::exchange(split.counts, {}).read;
    for (std::size_t k = 0; k < texts.size(); ++k) {
      const std::string number = texts.size() > 1 ? fmt::format(".{}", k + 1) : "";
      const SplitCounts counts =
          encode(split, texts[k], number, longest, data, emit, [&](Index read) {
            if (progress && (split.counts.read + read) % kReportLines == 0)
              progress("tokenising " + split.name, split.counts.read + read, lines);
          });
      split.counts += counts;
      if (texts.size() > 1) split.portions.push_back({counts.kept});
    }
  }

  // number: ".1", ".2", ... if the split has several files, otherwise empty.
  SplitCounts encode(Split& split,
                     const TextFiles& files,
                     const std::string& number,
                     Longest longest,
                     const Dataset& data,
                     const Emit& emit,
                     const std::function<void(Index)>& on_line) const {
    const bool linked = !files.alignment.path.empty();
    SplitCounts counts;
    PairReader reader = reader_of(files, marked_by({data.source, data.target}));
    TextSurvey sources(*data.source), targets(*data.target);
    std::map<std::string, Index> clusters;  // cluster numbers by key
    for (Pair pair; reader.next(pair);) {
      on_line(++counts.read);
      if (pair.empty()) {
        ++counts.dropped_empty;
        continue;
      }
      const Index most = longest.tokens;
      const Side source(*data.source, files.source, pair.line, pair.source, most, linked),
          target(*data.target, files.target, pair.line, pair.target, most, linked);
      if (source.cut || target.cut) {
        if (!truncates()) {
          ++counts.dropped_too_long;
          continue;
        }
        ++counts.truncated;
      }
      ++counts.kept;
      const std::vector<Link> links = spread_links(pair.links, source.word_of, target.word_of);
      emit(split, {source.tokens, target.tokens, links, source.text, target.text, pair.line});
      if (given(files.clusters))
        split.clusters.push_back(
            clusters.emplace(pair.cluster, std::ssize(clusters)).first->second);
      if (!pair.references.empty()) split.references.emplace_back();
      for (std::size_t k = 0; k < pair.references.size(); ++k) {
        const Index limit = truncates() ? most : kLongestSentence;
        const std::string& line = pair.references[k];
        const Side side(*data.target, files.references[k], pair.line, line, limit);
        split.references.back().push_back(side.text);
      }
      sources.add(pair.line, source.text, source.tokens);
      targets.add(pair.line, target.text, target.tokens);
    }
    if (counts.kept == 0) refuse_nothing_left(files, counts, longest);
    split.texts.push_back(sources.facts(split.name + ".source" + number));
    if (given(files.target)) split.texts.push_back(targets.facts(split.name + ".target" + number));
    return counts;
  }

  Options options_;
};

SOFTALIGN_TASK("parallel_text",
               ParallelText,
               "translations from two files, with word links where known");

}  // namespace
}  // namespace softalign
