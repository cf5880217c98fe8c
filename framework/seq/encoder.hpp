// The contract of an encoder: a source as annotation vectors, one for each position that can be attended to;
// and the State that encoders hand to decoders.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "framework/autodiff/parameters.hpp"
#include "framework/autodiff/tape.hpp"
#include "framework/base/error.hpp"
#include "framework/config/registry.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/seq/inspection.hpp"

namespace softalign {

// A decoder's state: a few arrays whose rows are sentences (or hypotheses). Does not allocate.
class State {
 public:
  State() = default;
  State(std::initializer_list<Var> vars) {
    for (Var var : vars) push(var);
  }
  void push(Var var) {
    if (size_ == vars_.size()) throw BugError("[state] more than {} arrays", vars_.size());
    vars_[size_++] = var;
  }
  void append(const State& other) {
    for (Var var : other) push(var);
  }
  State from(std::size_t first) const {  // the arrays from index `first` on
    State rest;
    for (std::size_t i = first; i < size_; ++i) rest.push(vars_[i]);
    rest.step = step;
    return rest;
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Var* begin() const { return vars_.data(); }
  const Var* end() const { return vars_.data() + size_; }
  Var operator[](std::size_t i) const { return vars_[place(i)]; }
  Var& operator[](std::size_t i) { return vars_[place(i)]; }

  Index step = 0;  // the next target position, counted by the model

 private:
  std::size_t place(std::size_t i) const {
    if (i < size_) return i;
    throw BugError(
        "[state] no array {} among {}: did a step omit some of its attention's arrays?", i, size_);
  }

  std::array<Var, 32> vars_{};
  std::size_t size_ = 0;
};

struct EncoderInput {
  Var embedded;                         // [B,S,E]; empty unless the encoder reads embeddings
  std::span<const Index> lengths = {};  // [B], not increasing
  std::span<const Token> symbols = {};  // [B,S]; empty if the source is frames
  std::span<const float> frames = {};   // [B,S,F]; empty if the source is symbols
  Tape* tape = nullptr;                 // for encoders that do not read embeddings
  HeadWeights* heads = nullptr;         // receives the weights of an encoder that attends()
};

struct Annotations {
  Var states;  // [B,S,D], h_j; padding is never read. Scores read them, contexts average them unless
               // there are `values`
  Var last;    // [B,D], the whole sentence in one vector, for vanilla seq2seq
  Var start;   // [B,D'], the input of the decoder's first state (Bahdanau 2015: the backward state
               // at position 1)
  std::span<const Index> lengths;  // [B], not increasing
  // [B,U_k], the final states of all layers, with which a decoder's cells may start (Sutskever et al. 2014): h of
  // layer 1, then its c if it has one, layer 2, ...
  State finals = {};
  Var values = {};  // [B,S,D], averaged by contexts instead of the states (Gehring et al. 2016)
  // [B,S,U_k], the arrays whose concatenation is the states of a recurrent layer. Their gradients (keep_gradient) are
  // complete, including those through the recurrence. Empty: the states themselves.
  State parts = {};

  Var averaged() const { return values ? values : states; }
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Sentences are sorted by descending length.
  virtual Annotations encode(const EncoderInput& source) const = 0;
  virtual Index size() const = 0;                                // D
  virtual Index start_size() const = 0;                          // D'
  virtual std::vector<Index> final_sizes() const { return {}; }  // U_k of Annotations::finals
  // The encoder's input: embeddings, which the model looks up for symbols and projects from frames; or the
  // symbols or frames themselves, in which case no other kind of source is accepted.
  enum class Reads { embeddings, symbols, frames };
  virtual Reads reads() const { return Reads::embeddings; }
  // true: source symbols attend to each other, and EncoderInput::heads receives their weights.
  virtual bool attends() const { return false; }
  // Returns the number of annotations of a source with `length` symbols (including </s>) or frames, and the
  // annotation that symbol or frame `index` belongs to.
  virtual Index positions(Index length) const { return length; }
  virtual Index position_of(Index index) const { return index; }
  // The format of the frames that the encoder reads; 0 accepts any value.
  virtual FrameFormat frames() const { return {.size = 0, .height = 0}; }
};

struct EncoderKind {
  static constexpr const char* name = "encoder";
  using Make = std::unique_ptr<Encoder>(const Parameters&, Index embedding);
};

}  // namespace softalign

#define SOFTALIGN_ENCODER(name, Class, summary) SOFTALIGN_PLUGIN(EncoderKind, name, Class, summary)
