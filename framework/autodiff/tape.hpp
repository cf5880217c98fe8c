// Automatic differentiation: an eager tape on an arena. Operations compute their value at once and
// record their backward.
//
//   Tape tape(Tape::Mode::train, gradients);  // flat, like the parameters, zeroed by its owner
//   Var y = tanh(linear(x, w, b));            // ops/ops.hpp
//   tape.backward(loss);                      // ADDS into the gradients of parameters and leaves
//   tape.reset();                             // drops every Var, keeps the memory; parameters must
//                                             // not change before
//
// The laws of an operation's backward: it ACCUMULATES (adds to gradients, never sets them);
// v.gradient() is empty if it is not needed; backward is called once, after the backward of all
// readers of the output. The gradient of an operation's output lives only until that operation's
// backward has run; its memory is then reused (unless keep_gradient was called). One tape belongs
// to one thread.
//
// A batch may be divided into parts, each on its own tape. Sums over sentences, that is, gradients of
// parameters, must not depend on the division: each is a product of a weight (add_weight_product), a sum
// of rows (add_row_sum), rows of a table (add_rows), or one row for each sentence (SentenceGradient).
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "framework/autodiff/parameters.hpp"
#include "framework/autodiff/products.hpp"
#include "framework/base/arena.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/base/view.hpp"
#include "framework/base/workers.hpp"

namespace softalign {

// The inputs of the random numbers of a training step, besides the layer's name; they never depend on
// threads, parts or the index of a sentence in its batch.

struct Noise {
  std::uint64_t seed = 0;                // of the run
  std::uint64_t update = 0;              // from 1
  std::span<const Index> examples = {};  // [B], the rows' indices in the training data

  // Returns a layer's random stream at this update; `named` is RandomStream(0, "noise/" + its name).
  RandomStream stream(const RandomStream& named) const { return named.within(seed, update); }
  // Returns the stream's round for a row of the batch at a step; example and step must be below 2^32.
  std::uint64_t round(Index row, Index step) const {
    return static_cast<std::uint64_t>(examples[usize(row)]) << 32 |
           static_cast<std::uint64_t>(step);
  }
};

class Tape;

// A pointer to a value on a tape; pass it by value.
class Var {
 public:
  Var() = default;
  explicit operator bool() const { return node_ != nullptr; }
  View value() const;  // throws BugError if an operation has taken it (Tape::take)
  const Shape& shape() const { return node_->value.shape; }
  Tape& tape() const { return *node_->tape; }
  bool needs_gradient() const { return node_->wanted != Wanted::no; }
  // Returns the gradient to add to, zeroed at its first use; empty if it is not needed. Valid inside
  // backward, for a leaf also afterwards. Throws BugError for a parameter (see above).
  View gradient() const;

 private:
  friend class Tape;
  friend class SentenceGradient;
  enum class Wanted {  // whether the gradient is needed, and how long
    no,
    once,         // its memory is reused as soon as it was read
    until_reset,  // Tape::keep_gradient
  };
  enum class Memory {  // state of the value's memory
    held,              // its own operation needs the value, or it has been read
    expendable,        // may be overwritten
    overwritten,
  };
  struct Node {
    View value;
    real* gradient = nullptr;
    Tape* tape = nullptr;
    Wanted wanted = Wanted::no;
    Memory memory = Memory::held;
    Node* whole = nullptr;  // the node that owns the memory of this one; null: itself
    Index parameter = -1;   // offset in the flat buffer; -1: not a parameter
    bool table = false;     // a parameter that is only looked up

    Node& root() { return whole == nullptr ? *this : *whole; }
    real* gradient_or_null();
  };
  View own_gradient() const;
  explicit Var(Node* node) : node_(node) {}
  Node* node_ = nullptr;
};

class Tape {
 public:
  enum class Mode { train, infer };  // infer: nothing is recorded, no gradients

  // gradients: flat buffer of ParameterStore::flat_size() numbers; null if parameters need no gradient
  // or collect_gradients is called.
  explicit Tape(Mode mode, real* gradients = nullptr) : mode_(mode), gradients_(gradients) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  Var constant(View value);              // no copy: must outlive the tape's use of it
  Var leaf(View value, real* gradient);  // gradient: added to, same size; null: like constant
  Var parameter(const Parameter& parameter);
  View allocate(const Shape& shape) { return arena_.array(shape); }
  View zeros(const Shape& shape) { return arena_.zeros(shape); }
  Arena& arena() { return arena_; }
  Arena& gradient_arena() { return gradient_arena_; }  // whoever allocates there must rewind it
  bool training() const { return mode_ == Mode::train; }
  // Null if nothing is random: evaluation, search, gradient checks. It must outlive the step.
  const Noise* noise() const { return owner_ == nullptr ? noise_ : owner_->noise_; }
  void set_noise(const Noise* noise) { noise_ = noise; }
  std::size_t peak_bytes() const;  // most memory ever in use, without weight packs
  std::size_t pack_bytes() const { return own_packs_.peak_bytes(); }

  // Records `value`, computed from `inputs`. backward(View dy) is called with the gradient of the
  // value; it may capture only Vars, Views and numbers, because it is never destroyed.
  template <class Backward>
  Var record(View value, std::initializer_list<Var> inputs, Backward backward) {
    bool needed = false;
    for (Var input : inputs) needed = needed || (input && input.needs_gradient());
    return record_if(value, needed, backward);
  }
  template <std::invocable<View> Backward>
  Var record_if(View value, bool needed, Backward backward) {
    return put(node(value, nullptr, needed && training()), backward);
  }

  // Marks x as not read by the backward of its own operation, so that another may overwrite it.
  Var expendable(Var x) {
    x.node_->memory = Var::Memory::expendable;
    return x;
  }
  // For an operation that overwrites its argument: returns the numbers of x as an exclusive Var, in
  // x's own memory if it is expendable and has not been read (x is then invalid), otherwise as a copy.
  // A result recorded by record_in_place shares its gradient with x: the two must be equal, as in a
  // sum, or backward must turn the one into the other in place.
  Var take(Var x);
  template <class Backward>
  Var record_in_place(Var argument, std::initializer_list<Var> inputs, Backward backward) {
    bool needed = argument.needs_gradient();
    for (Var input : inputs) needed = needed || (input && input.needs_gradient());
    return put(part_of(argument, argument.node_->value, needed && training()), backward);
  }
  // Takes x [T,...] and returns its T parts [...].
  std::span<const Var> unstack(Var x);
  // Returns the K results [...] of an operation that recorded them as one array x [K,...], which
  // nothing else may read.
  std::span<const Var> outputs(Var x) { return parts(x, Var::Memory::held); }

  void backward(Var losses, real seed = 1);   // of the sum of losses
  void backward_from(Var output, View seed);  // seed: the gradient of output, any shape
  void backward();                            // from outputs whose gradients have been written
  void reset();                               // drops every Var, keeps the memory

  struct Mark {
    Arena::Mark arena;
    void* last = nullptr;
  };
  Mark mark() const { return {arena_.mark(), last_}; }
  void rewind(Mark mark);  // drops everything recorded since the mark

  // Keeps the gradient of x, or inside backward that of the operation's output, until reset.
  void keep_gradient() { keep_gradient(Var(running_)); }
  bool keeps_gradient() const { return running_->root().wanted == Var::Wanted::until_reset; }
  void keep_gradient(Var x) {
    Var::Wanted& wanted = x.node_->root().wanted;
    if (owner_ == nullptr && wanted == Var::Wanted::once) wanted = Var::Wanted::until_reset;
  }

  // Adds x^T dy to the gradient of a weight. For a parameter the product is computed at the end of
  // backward, together with all others, so x must be a value and dy a kept gradient, or other memory
  // that stays valid.
  void add_weight_product(Var w, const SentenceRows& x, const SentenceRows& dy);
  void add_weight_product(Var w, Matrix x, Matrix dy) {  // a row for each sentence
    add_weight_product(w,
                       SentenceRows{x.data, x.columns, x.rows, 1, x.stride},
                       SentenceRows{dy.data, dy.columns, dy.rows, 1, dy.stride});
  }
  void add_weight_product(Var w, const MadeRows& x, const SentenceRows& dy);
  // Adds the sum of the rows dy, which must stay valid, to the gradient of a bias.
  void add_row_sum(Var bias, const SentenceRows& dy);
  // Computes c = x w, or x w^T (see gemm in kernels/gemm.hpp). A parameter that few rows are multiplied
  // with, as at every time step, is packed once (WeightPacks).
  enum class Weight : bool { as_it_is, transposed };
  void multiply(
      Matrix x, Var w, Weight how, bool add, real* c, Index c_stride, const real* bias = nullptr);

  // Adds dy [..., size], which must stay valid, to the rows ids [...] of a table's gradient.
  void add_rows(Var table, const Token* ids, View dy);
  // For a memory that attention reads at every step: adds rows (outer) columns of each sentence to its
  // gradient, before that is read.
  void add_outer_products(Var memory, View rows, View columns, std::span<const Index> lengths) {
    outer_products_.add(memory.own_gradient(), rows, columns, lengths);
  }

  // For adding up the gradients of several tapes: backward only collects weight_products().
  void collect_gradients(WeightPacks& shared);
  std::span<const WeightProduct> weight_products() const { return products_; }
  // Returns the gradient of a parameter or leaf for a caller that computes all of it at once, in the order
  // of the rows; null if it is not needed, or on a tape that collects gradients.
  real* whole_gradient(Var w);

  // Returns a second tape of the same mode and gradients, for computations that are discarded and
  // repeated (rematerialisation).
  Tape& scratch();

 private:
  friend class Var;
  friend class SentenceGradient;
  struct Step {
    void (*run)(Step*, View);
    Var::Node* output;
    Step* previous;
  };
  // Free gradient buffers by size, for reuse: all time steps need the same sizes.
  struct FreeBuffer {
    FreeBuffer* next;
  };
  struct FreeBuffers {
    Index size;
    FreeBuffer* first;
  };

  Tape& root() { return owner_ == nullptr ? *this : *owner_; }
  template <class Backward>
  Var put(Var::Node* node, Backward backward) {
    abandon_step_if_asked();
    if (node->wanted != Var::Wanted::no) {
      struct Entry : Step {
        Backward backward;
      };
      last_ = arena_.make<Entry>(
          Step{[](Step* self, View dy) { static_cast<Entry*>(self)->backward(dy); }, node, last_},
          backward);
    }
    return Var(node);
  }
  Var::Node* node(View value, real* gradient, bool needs_gradient) {
    const auto wanted = needs_gradient ? Var::Wanted::once : Var::Wanted::no;
    return arena_.make<Var::Node>(value, gradient, this, wanted);
  }
  Var::Node* part_of(Var whole,
                     View value,
                     bool needs_gradient,
                     Var::Memory memory = Var::Memory::expendable);
  std::span<const Var> parts(Var whole, Var::Memory memory);
  void refuse_shared(Var x);
  void put_off(Var w, const WeightProduct& product);
  SentenceRows lasting(const SentenceRows& rows);
  real* rows_of_parameter(Var w, Index sentences);
  void compute_products();
  FreeBuffer*& free_buffers(Index size);
  real* take_gradient(Index size);  // zeroed
  void give_back(real* gradient, Index size);

  Mode mode_;
  real* gradients_;
  const Noise* noise_ = nullptr;
  Arena arena_;
  Step* last_ = nullptr;
  Arena gradient_arena_;
  std::vector<FreeBuffers> free_;
  Var::Node* running_ = nullptr;  // the output whose backward runs
  OuterProducts outer_products_;
  WeightPacks own_packs_;
  WeightPacks* packs_ = &own_packs_;
  bool collects_ = false;
  WeightProducts products_;
  WeightProducts of_one_weight_;
  struct Rows {
    Index parameter;
    real* numbers;
  };
  std::vector<Rows> sentence_rows_;  // for SentenceGradient
  Tape* owner_ = nullptr;            // only of a scratch tape
  std::unique_ptr<Tape> scratch_;
};

// The gradient of a parameter as one row for each sentence, added up when backward has ended:
//
//   const SentenceGradient dv(v, sentences, size);
//   for (Index b = 0; b < sentences; ++b) ... dv.row(b)[u] += ...   // if (dv)
//
// For an array [B, size], with a row for each sentence, it is the array's gradient. Use only inside backward.
class SentenceGradient {
 public:
  SentenceGradient(Var v, Index sentences, Index size);
  ~SentenceGradient();
  SentenceGradient(const SentenceGradient&) = delete;
  SentenceGradient& operator=(const SentenceGradient&) = delete;
  explicit operator bool() const { return numbers_ != nullptr; }
  real* data() const { return numbers_; }  // null if not needed
  real* row(Index sentence) const { return numbers_ + sentence * size_; }

 private:
  Var sum_of_;  // set if v is not a parameter and has one row: the rows are added to its gradient
  Index sentences_, size_;
  real* numbers_ = nullptr;
};

}  // namespace softalign
