// The contract of an attention: what the decoder sees of the source at one step.
#pragma once

#include <memory>

#include "framework/seq/encoder.hpp"
#include "framework/seq/score.hpp"

namespace softalign {

struct Glimpse {
  Var context;      // [B,C]
  Var weights;      // [B,S], rows sum to 1, 0 at padding; empty when the attention does not align
  State next = {};  // its own arrays before the next step
};

struct AttentionSizes {
  Index query;       // Q
  Index annotation;  // D
};

class Attention {
 public:
  virtual ~Attention() = default;
  virtual Memory prepare(const Annotations& annotations) const = 0;
  // What it remembers from step to step, before the first; none unless it says so.
  virtual State start(const Memory&) const { return {}; }
  virtual Glimpse attend(const Memory& memory, const Query& query) const = 0;
  virtual Index context_size() const = 0;  // C
  virtual bool aligns() const = 0;         // whether there are weights to record
  virtual bool reads_links() const { return false; }
};

struct AttentionKind {
  static constexpr const char* name = "attention";
  using Make = std::unique_ptr<Attention>(const Parameters&, AttentionSizes);
};

}  // namespace softalign

#define SOFTALIGN_ATTENTION(name, Class, summary) \
  SOFTALIGN_PLUGIN(AttentionKind, name, Class, summary)
