// Task frames: arrays of numbers, such as the frames of speech, and their targets as text. Sources are in an HDF5 file
// with two datasets: `frames` [sum of T, F], all arrays one after the other (float32; any floating-point type is
// read), and `lengths`, the T of each array. Line k of the target file belongs to array k. In Python:
//
//   with h5py.File("train.h5", "w") as file:
//       file["frames"] = np.concatenate(arrays).astype("float32")
//       file["lengths"] = [len(array) for array in arrays]
//
// Line k of an alignment file links frames to words of target k, as in parallel_text: `3-0 4-0 9-1`, positions from 0.
// If an encoder has fewer annotations than frames, a link moves to the annotation of its frame (Encoder::position_of).
//
// normalise: each of the F numbers is shifted and scaled by its mean m and standard deviation d over the n frames of
// the training pairs that are used, (x - m) / d with m = sum(x) / n and d = sqrt(sum((x - m)^2) / n), or d = 1 for a
// number that does not vary (statistics_of in data/dataset.hpp). The record contains m and d, so that `evaluate` and
// `translate` normalise new arrays in the same way.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/data/cache.hpp"
#include "framework/data/frame_pairs.hpp"
#include "framework/data/read_vocabularies.hpp"
#include "framework/data/task.hpp"
#include "framework/data/text.hpp"

namespace softalign {
namespace {

// Must be increased when the same files and options give different examples than before, because existing caches
// follow the old rules.
constexpr int kFrameRules = 1;

struct FramesOptions {
  Index frame_size = 0;
  FrameFiles train;
  FrameFiles dev;
  FrameFiles test;
  VocabularyOptions vocabulary;
  std::string normalise = "mean_variance";
  Index max_length = 1000;
  Index max_target_length = 200;
  std::optional<Index> max_length_test;

  template <class V>
  void describe(V& v) {
    Limits given = between(1, kLargestLayer);
    given.required = true;
    v("frame_size", frame_size, "numbers of a frame, F", given);
    v("train", train, "files to train on");
    v.check("train",
            train.has_targets() || train.source.path.empty(),
            "target is missing: training needs the targets");
    v("dev", dev, "files for dev evaluations");
    v("test", test, "files to test on");
    v("vocabulary",
      vocabulary,
      "symbols of the targets, built from the training text that is kept");
    v.check("vocabulary", !vocabulary.dropout, "dropout needs sources that are text; remove it");
    v("normalise",
      normalise,
      "what the training frames determine for each number of a frame: mean_variance, which "
      "become 0 and 1; mean, which becomes 0; none",
      one_of("mean_variance", "mean", "none"));
    v("max_length",
      max_length,
      "longest training source, frames; longer pairs are dropped and counted",
      between(1, kLongestSentence));
    v("max_target_length",
      max_target_length,
      "longest training target, symbols; longer pairs are dropped and counted",
      between(1, kLongestSentence));
    v("max_length_test",
      max_length_test,
      "longest source of dev and test, frames; null: any length",
      between(1, kLongestSentence));
  }
};

class Frames final : public Task {
 public:
  using Options = FramesOptions;
  explicit Frames(const Options& options) : options_(options) {}

  DataOutline outline() const override {
    const auto split = [&](const FrameFiles& files, Index longest, Index longest_target) {
      return DataOutline::SplitOutline{.references = files.has_targets(),
                                       .links = files.has_links(),
                                       .source = {.longest = longest_source(files, longest)},
                                       .target = {.longest = longest_target}};
    };
    const Index longest = options_.max_length_test.value_or(0);
    return {.target_symbols = options_.vocabulary.from.path.empty() ? options_.vocabulary.size : 0,
            .frames = format(),
            .one_vocabulary = false,
            .train = split(options_.train, options_.max_length, options_.max_target_length),
            .dev = split(options_.dev, longest, 0),
            .test = split(options_.test, longest, 0),
            .held = !cache_folder()};
  }

  Dataset load(std::uint64_t, const Progress& progress) const override {
    Hashes hashes;
    const std::string name = identity(hashes);
    const auto make = [&](Dataset& data, const Emit& emit) {
      read(data, emit, progress);
      for (const auto& [file, before] : hashes)
        if (input_hash(file, read_hash) != before)
          throw DataError("{}: changed while it was read; run the same command again", file.path);
    };
    return cached_dataset(name, make, progress);
  }

  Dataset load_to_measure(std::uint64_t,
                          const std::string& split,
                          const Vocabularies& vocabularies,
                          const Progress& progress) const override {
    Dataset data;
    data.target = vocabularies.target;
    data.statistics = vocabularies.statistics;
    prepare(data);
    const auto emit = [](Split& to, const Example& example) { to.examples.append(example); };
    const bool is_dev = split == "dev";
    const FrameFiles& files = is_dev ? options_.dev : options_.test;
    data.has_links = files.has_links();
    encode(is_dev ? data.dev : data.test, files, for_measuring(), data, emit, progress);
    return data;
  }

  bool has_to_train_subwords() const override {
    Hashes hashes;
    return options_.vocabulary.type == "sentencepiece" && options_.vocabulary.from.path.empty() &&
           !is_cached(identity(hashes));
  }

  void check_files() const override {
    for (const FrameFiles* files : {&options_.train, &options_.dev, &options_.test}) {
      FramePairs pairs(*files, options_.frame_size);
      while (pairs.next()) {
        pairs.frames();
        pairs.links();
      }
    }
  }

 private:
  using Hashes = std::vector<std::pair<InputFile, std::string>>;

  std::string identity(Hashes& hashes) const {
    const auto hash = [&](const InputFile& file) {
      return hashes.emplace_back(file, input_hash(file)).second;
    };
    return fmt::format("frames {}\nsentencepiece {}\n{}",
                       kFrameRules,
                       sentencepiece_version(),
                       canonical_json(options_, hash));
  }

  struct Longest {
    Index source;  // frames
    Index target;  // symbols
    const char* option;
  };

  Longest for_training() const {
    return {options_.max_length, options_.max_target_length, "max_length or max_target_length"};
  }
  Longest for_measuring() const {
    return {
        options_.max_length_test.value_or(kLongestSentence), kLongestSentence, "max_length_test"};
  }
  FrameFormat format() const { return {.size = options_.frame_size}; }

  // Returns the longest source in the file of a split, limited to `most` (0: no limit). Returns `most` for a file that
  // cannot be read, because load() reports it.
  Index longest_source(const FrameFiles& files, Index most) const {
    try {
      const FrameFile file(files.source.path, options_.frame_size);
      Index longest = 0;
      for (Index array = 0; array < file.size(); ++array)
        longest = std::max(longest, file.length(array));
      return most == 0 ? longest : std::min(longest, most);
    } catch (const DataError&) {
      return most;
    }
  }

  void prepare(Dataset& data) const {
    for (auto [split, name] :
         {std::pair(&data.train, "train"), {&data.dev, "dev"}, {&data.test, "test"}}) {
      split->name = name;
      split->examples = Examples(format());
    }
  }

  void read(Dataset& data, const Emit& emit, const Progress& progress) const {
    prepare(data);
    data.has_links = options_.test.has_links();
    data.target = target_vocabulary(progress);
    data.statistics = statistics(*data.target, progress);
    encode(data.train, options_.train, for_training(), data, emit, progress);
    encode(data.dev, options_.dev, for_measuring(), data, emit, progress);
    encode(data.test, options_.test, for_measuring(), data, emit, progress);
  }

  // Reads the vocabulary, or builds it from the training targets that are not skipped. Lengths in pieces are known only
  // after the sub-word model is trained, so the lengths of its training text are not checked.
  std::shared_ptr<const Vocabulary> target_vocabulary(const Progress& progress) const {
    if (const InputFile& from = options_.vocabulary.from; !from.path.empty())
      return read_vocabularies(from.path).target;
    const bool pieces = options_.vocabulary.type == "sentencepiece";
    const auto ruler = pieces ? nullptr : build_vocabulary(options_.vocabulary, {});
    const auto builder = vocabulary_builder(options_.vocabulary);
    FramePairs pairs(options_.train, options_.frame_size);
    bool used = false;
    while (pairs.next()) {
      if (skipped(pairs, ruler.get(), for_training())) continue;
      builder->add(pairs.target());
      used = true;
    }
    if (!used) refuse_nothing_left(pairs, for_training());
    try {
      return builder->finish(progress);
    } catch (const DataError& error) {
      throw DataError("{}: {}", pairs.target_path(), error);
    }
  }

  FrameStatistics statistics(const Vocabulary& target, const Progress& progress) const {
    if (options_.normalise == "none") return {};
    return statistics_of(
        options_.frame_size, options_.normalise == "mean_variance", [&](const auto& add) {
          FramePairs pairs(options_.train, options_.frame_size);
          while (pairs.next()) {
            if (skipped(pairs, &target, for_training())) continue;
            report(pairs, "measuring train", progress);
            add(pairs.frames());
          }
        });
  }

  enum class Skip { empty, too_long };

  // Returns the reason to skip a pair. Without a vocabulary, lengths of targets are not checked.
  static std::optional<Skip> skipped(const FramePairs& pairs,
                                     const Vocabulary* target,
                                     const Longest& longest) {
    if (pairs.length() > longest.source) return Skip::too_long;
    if (!pairs.has_targets()) return {};
    if (split_words(pairs.target()).empty()) return Skip::empty;
    if (target && std::ssize(target->encode(pairs.target())) > longest.target)
      return Skip::too_long;
    return {};
  }

  [[noreturn]] static void refuse_nothing_left(const FramePairs& pairs, const Longest& longest) {
    throw DataError(
        "{}: none of its {} can be used: each is too long or has an empty target; "
        "raise task.{}",
        pairs.path(),
        counted(pairs.size(), "array"),
        longest.option);
  }

  // Returns "340 frames (3f9a2c01)": readable, and different for different arrays, so that `compare` finds the
  // sentences that two runs share.
  std::string text_of(std::span<const float> frames) const {
    return fmt::format(
        "{} ({})", counted(std::ssize(frames) / options_.frame_size, "frame"), fingerprint(frames));
  }

  static void report(const FramePairs& pairs, const std::string& what, const Progress& progress) {
    constexpr Index kEvery = 256;  // arrays
    if (progress && pairs.array() % kEvery == 0) progress(what, pairs.array(), pairs.size());
  }

  void encode(Split& split,
              const FrameFiles& files,
              const Longest& longest,
              const Dataset& data,
              const Emit& emit,
              const Progress& progress) const {
    FramePairs pairs(files, options_.frame_size);
    TextSurvey survey(*data.target);
    SplitCounts& counts = split.counts;
    while (pairs.next()) {
      report(pairs, "reading " + split.name, progress);
      ++counts.read;
      if (const auto why = skipped(pairs, data.target.get(), longest)) {
        ++(*why == Skip::empty ? counts.dropped_empty : counts.dropped_too_long);
        continue;
      }
      std::vector<float> frames = pairs.frames();
      const std::string text = text_of(frames);
      try {
        normalise_frames(frames, format(), data.statistics);
      } catch (const DataError& error) {
        throw DataError("{}: array {}: {}", pairs.path(), pairs.array(), error);
      }
      const std::vector<Token> target = data.target->encode(pairs.target());
      std::vector<Index> each(usize(pairs.length()));
      std::iota(each.begin(), each.end(), Index{0});
      const std::vector<Link> links =
          spread_links(pairs.links(), each, data.target->word_of(pairs.target()));
      ++counts.kept;
      emit(split,
           {.target = target,
            .links = links,
            .source_text = text,
            .target_text = pairs.target(),
            .line = pairs.array() + 1,
            .frames = frames});
      if (pairs.has_targets()) survey.add(pairs.array() + 1, pairs.target(), target);
    }
    if (counts.kept == 0) refuse_nothing_left(pairs, longest);
    if (pairs.has_targets()) split.texts.push_back(survey.facts(split.name + ".target"));
  }

  Options options_;
};

SOFTALIGN_TASK("frames", Frames, "arrays of frames from HDF5 files, such as speech, to text");

}  // namespace
}  // namespace softalign
