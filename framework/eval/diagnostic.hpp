// The interface of diagnostics, which measure inside a model during or after training without changing it. A
// spec lists them under `diagnostics:`; the record has their findings under /diagnostics/<name>/<split>,
// by update.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/registry.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/task.hpp"
#include "framework/seq/model.hpp"

namespace softalign {

// The moments at which a diagnostic may measure: before the first update and after each epoch, on the dev sentences;
// at the end, with the tested parameters, on the sentences of each split.
enum class Moment { start, epoch, end };

struct Probed {
  const Model& model;
  const Split& split;
  std::uint64_t seed;  // the run's
  Workers& workers;
  std::function<void()> check_stop = [] {};  // throws Interrupted if the run must stop
};

// An axis of findings, with the value of each index.
struct FindingAxis {
  std::string name;
  std::string long_name;
  std::vector<double> places;
};

struct FoundArray {
  std::string name;
  std::string long_name;
  std::string units = "1";
  std::vector<std::string> axes = {};  // names, slowest first; empty: a single number
};

// The findings of one measurement. Axes, arrays and their sizes must be the same at every update of a run.
struct Findings {
  std::vector<FindingAxis> axes;
  std::map<std::string, std::vector<double>> values;  // by array; row-major; NaN: undefined
};

class Diagnostic {
 public:
  virtual ~Diagnostic() = default;
  virtual bool looks(Moment moment, const Split& split) const = 0;
  // Throws SpecError for a model that the diagnostic cannot measure: "needs an attention".
  virtual void check(const Model&) const {}
  // Returns all arrays that look() may find; for some models, it finds only some of them.
  virtual std::vector<FoundArray> arrays() const = 0;
  virtual Findings look(const Probed& probed) const = 0;
  // Returns the peak memory of look() in bytes, excluding a training tape of one sentence per thread.
  virtual double bytes(const Model&, const DataOutline::SplitOutline&, int /*threads*/) const {
    return 0;
  }
};

struct DiagnosticKind {
  static constexpr const char* name = "diagnostic";
  using Make = std::unique_ptr<Diagnostic>();
};

// Options that most diagnostics have.
struct DiagnosticOptions {
  Index sentences = 100;
  template <class V>
  void describe(V& v) {
    v("sentences",
      sentences,
      "number of sentences of a split that it reads, from the first",
      between(1, kMostSentences));
  }
};

// Returns the indices of the first `count` sentences of a split that have a reference.
inline std::vector<Index> seen_sentences(const Split& split, Index count) {
  const std::span<const ExampleRow> rows = split.examples.rows();
  std::vector<Index> seen;
  for (Index at = 0; at < std::ssize(rows) && std::ssize(seen) < count; ++at)
    if (rows[usize(at)].target > 0) seen.push_back(at);
  return seen;
}

// Returns see(i, batch) for the first `count` sentences with a reference, in order. A batch has one sentence; threads
// share the work.
template <class See>
auto of_each_sentence(const Probed& probed, Index count, const See& see) {
  const std::vector<Index> seen = seen_sentences(probed.split, count);
  std::vector<decltype(see(Index{}, std::declval<const Batch&>()))> found(seen.size());
  probed.workers.run(std::ssize(seen), [&](Index i) {
    probed.check_stop();
    found[usize(i)] = see(
        i,
        make_batch(probed.split, std::span(seen).subspan(usize(i), 1), probed.model.batch_parts()));
  });
  return found;
}

}  // namespace softalign

#define SOFTALIGN_DIAGNOSTIC(name, Class, summary) \
  SOFTALIGN_PLUGIN(DiagnosticKind, name, Class, summary)
