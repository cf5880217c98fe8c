// The contract of a score function: e_ij = score(query_i, annotation_j), nothing else. Masking,
// softmax, context, recording and rematerialisation belong to the attention that calls it.
#pragma once

#include <limits>
#include <memory>
#include <span>

#include "framework/autodiff/parameters.hpp"
#include "framework/autodiff/tape.hpp"
#include "framework/config/registry.hpp"

namespace softalign {

// The arrays that a score computes once per sentence. Immutable, so no setup call is needed.
struct Memory {
  Var keys = {};                        // [B,S,...] compared with the query
  Var values = {};                      // [B,S,D] averaged by the context; empty: the annotations
  std::span<const Index> lengths = {};  // [B], filled in by the framework
  std::span<const Index> begins = {};   // [B]: first position that needs an energy; empty: 0
};

// The decoder-side inputs of one step.
struct Query {
  Var state;          // [B,Q]
  Index step = 0;     // target position, from 0; the same for all rows
  Var attended = {};  // [B,S], the sum of the weights of earlier steps; only if reads_attended()
};

struct ScoreSizes {
  Index query;       // Q, size of the decoder's state
  Index annotation;  // D

  // Returns Q = D, for scores s · h. Throws SpecError if they differ; score `general` has a matrix between them.
  Index common() const;
};

class Score {
 public:
  virtual ~Score() = default;
  virtual Memory prepare(Var annotations) const = 0;                      // [B,S,D]
  virtual Var score(const Memory& memory, const Query& query) const = 0;  // raw energies [B,S]
  // false: an energy depends on the position of its annotation; true is verified by conformance tests.
  virtual bool permutable() const { return true; }
  virtual bool reads_attended() const { return false; }
  // Returns the number of positions that may have energies; weights beyond them are 0.
  virtual Index reach() const { return std::numeric_limits<Index>::max(); }
};

struct ScoreKind {
  static constexpr const char* name = "score";
  using Make = std::unique_ptr<Score>(const Parameters&, ScoreSizes);
};

}  // namespace softalign

#define SOFTALIGN_SCORE(name, Class, summary) SOFTALIGN_PLUGIN(ScoreKind, name, Class, summary)
