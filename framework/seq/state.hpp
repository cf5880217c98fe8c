// A decoder's state: a few arrays whose rows are sentences (or hypotheses). No malloc.
#pragma once

#include <array>
#include <initializer_list>

#include "framework/autodiff/tape.hpp"
#include "framework/base/error.hpp"

namespace softalign {

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
  State from(std::size_t first) const {  // the arrays from this one on
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

  Index step = 0;  // the target position it stands before; the model counts

 private:
  std::size_t place(std::size_t i) const {
    if (i < size_) return i;
    throw BugError(
        "[state] no array {} among {}: did a step leave some of its attention's out?", i, size_);
  }

  std::array<Var, 32> vars_{};
  std::size_t size_ = 0;
};

}  // namespace softalign
