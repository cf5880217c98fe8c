// The contract of a task: where an experiment's sentences come from.
#pragma once

#include <cstdint>
#include <memory>

#include "framework/config/registry.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/progress.hpp"

namespace softalign {

// What a task's options say of its data before any of it is read.
struct DataOutline {
  // Most symbols, with <unk>, <s> and </s>; 0: not known.
  Index source_symbols = 0;
  Index target_symbols = 0;
  // Above 0: a source is an image of this height, its symbols are pixels, column by column, from 0, the
  // paper's grey level; 0: it is text.
  Index image_height = 0;
  // False: surely not; true: it may be.
  bool one_vocabulary = true;  // of both sides
  struct SplitOutline {
    bool references = true;
    bool links = true;
  };
  SplitOutline train = {};
  SplitOutline dev = {};
  SplitOutline test = {};
};

class Task {
 public:
  virtual ~Task() = default;
  // Reads or generates the data: the same seed, which is the run's, gives the same bits. Results of
  // several seeds are compared sentence by sentence where it changes no sentence. Throws DataError
  // with file and line.
  virtual Dataset load(std::uint64_t seed, const Progress& progress) const = 0;
  // Reads nothing: what cannot be trained is refused before that.
  virtual DataOutline outline() const { return {}; }
};

struct TaskKind {
  static constexpr const char* name = "task";
  using Make = std::unique_ptr<Task>();
};

}  // namespace softalign

#define SOFTALIGN_TASK(name, Class, summary) SOFTALIGN_PLUGIN(TaskKind, name, Class, summary)
