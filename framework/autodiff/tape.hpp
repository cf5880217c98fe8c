// The chain rule: an eager tape on an arena. Operations compute their value at once and record how
// to go back.
//
//   Tape tape(Tape::Mode::train, gradients);  // flat, beside the parameters, zeroed by its owner
//   Var y = tanh(linear(x, w, b));            // ops/ops.hpp
//   tape.backward(loss);                      // ADDS into the gradients of parameters and leaves
//   tape.reset();                             // every Var is gone, the memory is kept
//
// The laws of an operation's backward: it ACCUMULATES (adds to gradients, never sets them);
// gradient(v) is empty when nobody needs it; it is called once, after everything that reads the
// operation's output. The gradient of an operation's output lives only until that operation's
// backward has run: its memory then serves another. One tape belongs to one thread.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "framework/autodiff/outer_products.hpp"
#include "framework/autodiff/parameters.hpp"
#include "framework/autodiff/weight_products.hpp"
#include "framework/base/arena.hpp"
#include "framework/base/view.hpp"

namespace softalign {

class Tape;

// A value on a tape: a pointer, to be passed by value.
class Var {
 public:
  Var() = default;
  explicit operator bool() const { return node_ != nullptr; }
  View value() const { return node_->value; }
  const Shape& shape() const { return node_->value.shape; }
  Tape& tape() const { return *node_->tape; }
  bool needs_gradient() const { return node_->needs_gradient; }
  // The gradient to add to, zeroed at its first use; empty when nobody needs it. Only inside
  // backward; that of a leaf also after it.
  View gradient() const;

 private:
  friend class Tape;
  struct Node {
    View value;
    real* gradient = nullptr;
    Tape* tape = nullptr;
    bool needs_gradient = false;
    bool rows_only = false;  // a table whose gradient goes to table_gradients()
  };
  explicit Var(Node* node) : node_(node) {}
  Node* node_ = nullptr;
};

class Tape {
 public:
  enum class Mode { train, infer };  // infer: nothing is recorded, no gradients

  // gradients: flat buffer of ParameterStore::flat_size() numbers, or null when parameters need
  // none.
  explicit Tape(Mode mode, real* gradients = nullptr) : mode_(mode), gradients_(gradients) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  Var constant(View value);              // no copy: must outlive the tape's use of it
  Var leaf(View value, real* gradient);  // gradient: where to add, same size; null like constant
  Var parameter(const Parameter& parameter);
  View allocate(const Shape& shape) { return arena_.array(shape); }
  View zeros(const Shape& shape) { return arena_.zeros(shape); }
  Arena& arena() { return arena_; }
  bool training() const { return mode_ == Mode::train; }
  std::size_t peak_bytes() const;  // most memory ever in use
  real* parameter_gradients() const { return gradients_; }

  // Puts `value`, computed from `inputs`, on the tape. backward(View dy) is called with the
  // gradient of the value; it holds Vars, Views and numbers only (it is never destroyed).
  template <class Backward>
  Var record(View value, std::initializer_list<Var> inputs, Backward backward) {
    bool needed = false;
    for (Var input : inputs) needed = needed || (input && input.needs_gradient());
    return record_if(value, needed, backward);
  }
  template <std::invocable<View> Backward>
  Var record_if(View value, bool needed, Backward backward) {
    needed = needed && training();
    Var out(arena_.make<Var::Node>(value, nullptr, this, needed));
    if (needed) {
      struct Entry : Step {
        Backward backward;
      };
      Step* step = arena_.make<Entry>(
          Step{[](Step* self, View dy) { static_cast<Entry*>(self)->backward(dy); },
               out.node_,
               last_},
          backward);
      last_ = step;
    }
    return out;
  }

  void backward(Var loss, real seed = 1);     // loss: one number
  void backward_from(Var output, View seed);  // seed: the gradient of output, any shape
  void reset();                               // drops every Var, keeps the memory

  struct Mark {
    Arena::Mark arena;
    void* last = nullptr;
  };
  Mark mark() const { return {arena_.mark(), last_}; }
  void rewind(Mark mark);  // drops what was recorded since the mark

  // Gradients of tables as the rows that were looked up, in the order of backward, instead of in the
  // flat buffer: for an owner who adds them up with others and never holds a whole table of zeros.
  struct TableGradient {
    const real* table;  // its values
    Index size;         // of a row
    Index count;
    const Token* ids;  // [count]
    const real* rows;  // [count, size]
  };
  void collect_table_gradients() { collects_rows_ = true; }
  const std::vector<TableGradient>& table_gradients() const { return table_gradients_; }
  // dy [count, size] to the rows ids of the table, wherever its gradient is kept.
  void add_rows(Var table, const Token* ids, View dy);

  // What layers that run at every time step do with a weight matrix; see there.
  WeightProducts& weight_products() { return root().products_; }
  // And what attention does with a memory it reads at every step: memory.gradient() += rows outer
  // columns, for each sentence, before anybody reads it.
  void add_outer_products(Var memory, View rows, View columns, std::span<const Index> lengths) {
    outer_products_.add(memory.gradient(), rows, columns, lengths);
  }

  // A second tape of the same mode and gradients, for work that is thrown away and done again
  // (rematerialisation).
  Tape& scratch();

 private:
  friend class Var;
  struct Step {
    void (*run)(Step*, View);
    Var::Node* output;
    Step* previous;
  };
  // Gradient buffers that are free again, by size: time steps ask for the same sizes over and over.
  struct FreeBuffer {
    FreeBuffer* next;
  };
  struct FreeBuffers {
    Index size;
    FreeBuffer* first;
  };

  Tape& root() { return owner_ == nullptr ? *this : *owner_; }
  void run_backward();
  FreeBuffer*& free_buffers(Index size);
  real* take_gradient(Index size);  // zeroed
  void give_back(real* gradient, Index size);

  Mode mode_;
  real* gradients_;
  Arena arena_;
  Step* last_ = nullptr;
  Arena gradient_arena_;
  std::vector<FreeBuffers> free_;
  WeightProducts products_;
  OuterProducts outer_products_;
  bool collects_rows_ = false;
  std::vector<TableGradient> table_gradients_;
  Tape* owner_ = nullptr;  // of a scratch tape
  std::unique_ptr<Tape> scratch_;
};

}  // namespace softalign
