// The interface of tasks, which provide the sentences of an experiment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "framework/base/error.hpp"
#include "framework/config/registry.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/read_vocabularies.hpp"

namespace softalign {

// An outline of a task's data, derived from its options before any data is read.
struct DataOutline {
  // Largest number of symbols, including <unk>, <s> and </s>; 0: unknown, or sources are frames.
  Index source_symbols = 0;
  Index target_symbols = 0;
  FrameFormat frames = {};  // of sources that are not symbols
  // Returns the format of the sources, with at least one symbol, for models that need only sizes.
  SourceFormat source() const {
    return frames ? SourceFormat(frames)
                  : SourceFormat(std::max(source_symbols, kSpecials + Index{1}));
  }
  bool one_vocabulary = true;  // both sides may share a vocabulary; false: they surely do not
  // Length of every target without </s>, which is also the length of search outputs (LengthLimits); 0: they differ.
  Index target_length = 0;
  // Sentence lengths of one side in symbols, without </s>.
  struct Lengths {
    Index shortest = 0;
    Index longest = 0;  // 0: unknown
    double mean = 0;
    double square = 0;  // the mean of the squares
    // All lengths from `shortest` to `longest` are equally likely.
    static Lengths even(Index shortest, Index longest);
  };
  struct SplitOutline {
    bool references = true;
    bool links = true;
    Index examples = 0;  // 0: unknown
    Index drawn = 0;     // per epoch, if weights of files determine it; 0: all examples
    Lengths source = {};
    Lengths target = {};
  };
  SplitOutline train = {};
  SplitOutline dev = {};
  SplitOutline test = {};
  // Returns false if the data has not been read, so that lengths and symbols are upper bounds.
  bool measured() const { return test.examples > 0; }
  // Number of distinct pairs of a source and a target symbol in sentence pairs of `train`, counted for IBM Model 1;
  // 0: not counted.
  Index cells = 0;
  bool held = true;  // the examples stay in memory; false: in a file of the cache folder
};

inline DataOutline::Lengths DataOutline::Lengths::even(Index shortest, Index longest) {
  const auto a = static_cast<double>(shortest), b = static_cast<double>(longest);
  const double mean = (a + b) / 2;
  return {shortest, longest, mean, mean * mean + (b - a) * (b - a) / 12};
}

class Task {
 public:
  virtual ~Task() = default;
  // Reads or generates the data. The same `seed` (of the run) gives the same bits. If the seed does not change
  // the sentences, results of several seeds are compared sentence by sentence. Throws DataError with file and line.
  virtual Dataset load(std::uint64_t seed, const Progress& progress) const = 0;
  // Returns the split "dev" or "test" with the vocabularies and frame statistics of a trained model; other splits
  // may be empty. A task that builds its vocabularies from text does not need that text here.
  virtual Dataset load_to_measure(std::uint64_t seed,
                                  const std::string& /*split*/,
                                  const Vocabularies& vocabularies,
                                  const Progress& progress) const {
    Dataset data = load(seed, progress);
    const auto text_of = [](const auto& vocabulary) {
      return vocabulary ? vocabulary->serialize() : "";
    };
    if (text_of(data.source) != text_of(vocabularies.source) ||
        data.target->serialize() != vocabularies.target->serialize())
      throw DataError("the data has other symbols than the model was trained with");
    return data;
  }
  // Throws DataError if the task's sources cannot have this length (symbols or frames). Called for new sources.
  virtual void check_source(Index /*length*/) const {}
  // Reads no examples, so that an impossible training can be refused before the data is loaded.
  virtual DataOutline outline() const { return {}; }
  // Returns whether `load` trains a subword model first, which may take minutes.
  virtual bool has_to_train_subwords() const { return false; }
  // Returns whether `load` only opens a cached dataset. Throws DataError for files that cannot be read.
  virtual bool is_read() const { return false; }
  // Reads the files without building a dataset. Throws the errors that `load` would throw for their lines.
  virtual void check_files() const {}
};

struct TaskKind {
  static constexpr const char* name = "task";
  using Make = std::unique_ptr<Task>();
};

}  // namespace softalign

#define SOFTALIGN_TASK(name, Class, summary) SOFTALIGN_PLUGIN(TaskKind, name, Class, summary)
