// Inverted dropout (Srivastava et al. 2014, section 10): while training, a number is set to 0 with
// probability `rate` and else divided by 1 - rate. The identity at rate 0 and where a tape has no noise
// (evaluation, search, conformance).
#pragma once

#include <algorithm>
#include <string_view>

#include "framework/autodiff/parameters.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {

class Dropout {
 public:
  enum class Mask {
    each_step,  // another one at every step
    all_steps   // one for a sentence: variational dropout (Gal and Ghahramani 2016)
  };
  // The name, behind that of p, is that of its random numbers; rate in [0, 1).
  Dropout(const Parameters& p,
          std::string_view name,
          double rate,
          Mask mask = Mask::each_step,
          DropoutUnit unit = DropoutUnit::number)
      : stream_(0, "noise/" + p.name_of(name)), rate_(rate), mask_(mask), unit_(unit) {}

  double rate() const { return rate_; }

  // One step: x [B,...], rows = sentences.
  Var operator()(Var x, Index step) const {
    return apply(x, {.step = mask_ == Mask::each_step ? step : 0});
  }
  // All steps of a sequence, the same masks as step by step: [B,S,D], [B,H,T,D], ...
  Var sentences_first(Var x, int step_axis = 1) const {
    return apply(x, {.steps = step_axis, .steps_differ = mask_ == Mask::each_step});
  }
  Var steps_first(Var x) const {  // [T,B,D]
    return apply(x, {.sentences = 1, .steps = 0, .steps_differ = mask_ == Mask::each_step});
  }

 private:
  Var apply(Var x, DropoutAxes axes) const {
    if (rate_ == 0 || x.tape().noise() == nullptr) return x;
    return dropout(x, rate_, stream_, axes, unit_);
  }

  RandomStream stream_;
  double rate_;
  Mask mask_;
  DropoutUnit unit_;
};

// What a cell's products see of its state h: h times a mask, one for all steps of a sentence (Gal and
// Ghahramani 2016). A decoder keeps the mask in its state while there is noise.
class StateDropout {
 public:
  StateDropout(const Parameters& p, double rate)
      : dropout_(p, "recurrent_dropout", rate, Dropout::Mask::all_steps) {}

  bool draws(const Tape& tape) const { return dropout_.rate() > 0 && tape.noise() != nullptr; }
  Var mask(Tape& tape, Index rows, Index units) const {  // [B,U]; empty where it draws nothing
    if (!draws(tape)) return {};
    View ones = tape.allocate({rows, units});
    std::fill(ones.begin(), ones.end(), real{1});
    return dropout_(tape.constant(ones), 0);
  }

 private:
  Dropout dropout_;
};

}  // namespace softalign
