// The contract of an optimiser: a pure rule from gradient and state to new values, applied to any
// part of the flat buffers, so that parts can be updated in parallel and the state is saved by
// those who own the buffers.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/config/registry.hpp"

namespace softalign {

struct Update {
  Index number = 1;         // from 1
  real gradient_scale = 1;  // factor on the gradient (clipping)
  double rate_factor = 1;   // on the learning rate (schedules)
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Buffers as large as the parameters that the rule needs, zero at the beginning: {"m", "v"}.
  virtual std::vector<std::string> state() const = 0;
  // state: one pointer for each of state().
  virtual void apply(Index count,
                     const Update& update,
                     const real* gradient,
                     real* value,
                     std::span<real* const> state) const = 0;
  // A zero gradient changes neither value nor state: rows of tables without one may be left out.
  virtual bool rests_without_gradient() const { return false; }
  virtual double learning_rate() const = 0;  // that a schedule multiplies
  // Decoupled from the gradient (Loshchilov and Hutter 2019): before each step w -= rate weight_decay w,
  // with the schedule's rate, for all parameters. The trainer does it.
  virtual double weight_decay() const { return 0; }
};

inline constexpr const char* kWeightDecay =
    "before each step, w -= rate weight_decay w for all parameters (Loshchilov and Hutter 2019); "
    "null: none";

struct OptimizerKind {
  static constexpr const char* name = "optimizer";
  using Make = std::unique_ptr<Optimizer>();
};

}  // namespace softalign

#define SOFTALIGN_OPTIMIZER(name, Class, summary) \
  SOFTALIGN_PLUGIN(OptimizerKind, name, Class, summary)
