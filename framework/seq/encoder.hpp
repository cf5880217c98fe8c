// The contract of an encoder: a source sentence as one annotation vector for each position.
#pragma once

#include <memory>
#include <span>

#include "framework/autodiff/parameters.hpp"
#include "framework/autodiff/tape.hpp"
#include "framework/config/registry.hpp"

namespace softalign {

struct Annotations {
  Var states;  // [B,S,D], h_j; what padding holds is never read
  Var last;    // [B,D], the whole sentence in one vector: what vanilla seq2seq keeps
  Var start;   // [B,D'], what the decoder's first state is made from (Bahdanau 2015: the backward
               // state at position 1)
  std::span<const Index> lengths;  // [B], not increasing
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // embedded [B,S,E]; sentences come sorted by descending length.
  virtual Annotations encode(Var embedded, std::span<const Index> lengths) const = 0;
  virtual Index size() const = 0;        // D
  virtual Index start_size() const = 0;  // D'
};

struct EncoderKind {
  static constexpr const char* name = "encoder";
  using Make = std::unique_ptr<Encoder>(const Parameters&, Index embedding);
};

}  // namespace softalign

#define SOFTALIGN_ENCODER(name, Class, summary) SOFTALIGN_PLUGIN(EncoderKind, name, Class, summary)
