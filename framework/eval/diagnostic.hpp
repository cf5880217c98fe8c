// The contract of a diagnostic: a measurement inside a model during or after training, which does not change
// it. A spec lists it under `diagnostics:`; the record has its findings under /diagnostics/<name>/<split>,
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

// When a diagnostic may measure: before the first update and after each epoch, on the dev sentences; at the
// end, with the tested parameters, on the sentences of each split.
enum class Moment { start, epoch, end };

struct Probed {
  const Model& model;
  const Split& split;
  std::uint64_t seed;  // the run's
  Workers& workers;
  std::function<void()> check_stop = [] {};  // throws Interrupted when the run is to stop
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
  std::vector<std::string> axes = {};  // names, slowest first; none: one number
};

// The findings of one measurement: the same axes and arrays, of the same sizes, at every update of
// a run.
struct Findings {
  std::vector<FindingAxis> axes;
  std::map<std::string, std::vector<double>> values;  // by array; row-major; NaN: not defined
};

class Diagnostic {
 public:
  virtual ~Diagnostic() = default;
  virtual bool looks(Moment moment, const Split& split) const = 0;
  // Throws SpecError for a model that it cannot measure: "needs an attention".
  virtual void check(const Model&) const {}
  // All arrays that look() may find; some models lack what an array describes.
  virtual std::vector<FoundArray> arrays() const = 0;
  virtual Findings look(const Probed& probed) const = 0;
  // Largest memory of look() in bytes, besides a training tape of one sentence per thread.
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

// The indices of the first `count` sentences of a split that have a reference.
inline std::vector<Index> seen_sentences(const Split& split, Index count) {
  const std::span<const ExampleRow> rows = split.examples.rows();
  std::vector<Index> seen;
  for (Index at = 0; at < std::ssize(rows) && std::ssize(seen) < count; ++at)
    if (rows[usize(at)].target > 0) seen.push_back(at);
  return seen;
}

// Returns see(i, batch) for each of these sentences, in their order; each is alone in its batch. Threads divide
// the sentences.
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
