// The contract of a task: where an experiment's sentences come from.
#pragma once

#include <cstdint>
#include <memory>

#include "framework/config/registry.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/progress.hpp"

namespace softalign {

// How many symbols there are on each side, with <unk>, <s> and </s>.
struct Symbols {
  Index source = 0;  // 0: not known before the data is read
  Index target = 0;
};

class Task {
 public:
  virtual ~Task() = default;
  // Reads or generates the data: the same seed, which is the run's, gives the same bits. Results of
  // several seeds are compared sentence by sentence where it changes no sentence. Throws DataError
  // with file and line.
  virtual Dataset load(std::uint64_t seed, const Progress& progress) const = 0;
  // The most that its options allow, without reading anything.
  virtual Symbols most_symbols() const { return {}; }
  // Above 0: a source is an image of this height, its symbols are pixels, column by column, from 0,
  // the paper's grey level; 0: it is text. Known before anything is read.
  virtual Index image_height() const { return 0; }
};

struct TaskKind {
  static constexpr const char* name = "task";
  using Make = std::unique_ptr<Task>();
};

}  // namespace softalign

#define SOFTALIGN_TASK(name, Class, summary) SOFTALIGN_PLUGIN(TaskKind, name, Class, summary)
