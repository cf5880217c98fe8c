// The parameters of a model in one flat buffer. Layers declare them by name while they are built;
// `allocate` then draws initial values from the random stream of each name, so replacing one plugin
// leaves all other values bit for bit the same.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/base/view.hpp"

namespace softalign {

// Writes the initial values of a parameter of this shape.
class Initializer {
 public:
  // For ParameterStore::redraw, which replaces the initialisers of weights, on request orthogonal
  // ones, too, and never own ones.
  enum class Kind { own, weights, orthogonal };

  Initializer() = default;  // all values stay 0
  template <std::invocable<View, const RandomStream&> Draw>
  requires(!std::same_as<Draw, Initializer>) Initializer(Draw draw, Kind kind = Kind::own)
      : draw_(std::move(draw)), kind_(kind) {}
  void operator()(View value, const RandomStream& stream) const {
    if (draw_) draw_(value, stream);
  }
  Kind kind() const { return kind_; }

 private:
  std::function<void(View, const RandomStream&)> draw_;
  Kind kind_ = Kind::own;
};

class ParameterStore;

// A named array [shape] inside the store. Its address is stable and valid as long as the store.
struct Parameter {
  std::string name;  // "decoder.attention.score.query.W"
  Shape shape;
  Initializer initializer;
  bool table = false;   // a lookup table: a batch touches a few of its rows
  bool trained = true;  // false: no gradient (frozen, or a state that its owner changes)
  Index offset = 0;     // in the flat buffers, a multiple of 16; set by allocate
  ParameterStore* store = nullptr;

  View value() const;
};

// Returns whether one of the shell patterns ("encoder.*") matches the parameter's name.
bool has_name_like(const Parameter& parameter, const std::vector<std::string>& patterns);

class ParameterStore {
 public:
  ParameterStore() = default;
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  Parameter* add(std::string name, Shape shape, Initializer initializer, bool table = false);
  // Replaces the initialisers of all weights, and on request of orthogonal ones; call it before
  // allocate.
  void redraw(const Initializer& initializer, bool orthogonal_too);
  // Replaces the initialisers of parameters whose names match, constants included, by
  // how(parameter). Returns the number of matches.
  Index redraw_named(const std::string& pattern,
                     const std::function<Initializer(const Parameter&)>& how);
  Parameter* add_state(std::string name, Shape shape, Initializer initializer);
  // Keeps parameters whose names match at their initial values; call it before allocate.
  void freeze(const std::vector<std::string>& patterns);
  void allocate(std::uint64_t seed);  // once, after every layer has been built
  // Like allocate, but all values are 0; a page of them takes memory only once it is written to.
  void allocate_zeros();

  real* values() { return values_.get(); }
  const real* values() const { return values_.get(); }
  Index flat_size() const { return size_; }  // with the padding between parameters, which stays 0
  // Sizes of the leading parts of the buffer: dense parameters come first, then trained tables, then
  // untrained parameters.
  Index dense_size() const { return dense_size_; }
  Index trained_size() const { return trained_size_; }
  Index count() const;  // trainable numbers
  const std::deque<Parameter>& all() const { return parameters_; }

 private:
  std::deque<Parameter> parameters_;
  struct Release {
    void operator()(real* numbers) const { std::free(numbers); }
  };
  std::unique_ptr<real[], Release> values_;
  Index size_ = 0;
  Index dense_size_ = 0;
  Index trained_size_ = 0;
};

// A node in the tree of names, passed to a layer's constructor.
class Parameters {
 public:
  explicit Parameters(ParameterStore& store, std::string prefix = "")
      : store_(&store), prefix_(std::move(prefix)) {}

  Parameters operator/(std::string_view name) const { return Parameters(*store_, name_of(name)); }
  Parameter* add(std::string_view name, Shape shape, Initializer initializer) const {
    return store_->add(name_of(name), shape, std::move(initializer));
  }
  // A table [V, E] that only embedding (ops/ops.hpp) may read.
  Parameter* add_table(std::string_view name, Shape shape, Initializer initializer) const {
    return store_->add(name_of(name), shape, std::move(initializer), true);
  }
  // Numbers that belong to a trained model and its checkpoints but have no gradient, such as a moving
  // average. Change them only between updates, and independently of threads.
  Parameter* add_state(std::string_view name, Shape shape, Initializer initializer) const {
    return store_->add_state(name_of(name), shape, std::move(initializer));
  }
  std::string name_of(std::string_view name) const {  // the full name
    return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
  }

 private:
  ParameterStore* store_;
  std::string prefix_;
};

}  // namespace softalign
