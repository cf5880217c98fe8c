// The contracts of an optimiser and of its learning-rate schedule. An optimiser is a pure rule from gradient
// and state to new values, applied to any part of the flat buffers, so that parts can be updated in parallel
// and the owner of the buffers saves the state.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/config/registry.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

struct Update {
  Index number = 1;         // from 1
  real gradient_scale = 1;  // factor on the gradient (clipping)
  double rate_factor = 1;   // on the learning rate (schedules)
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Names of the buffers that the rule needs, each as large as the parameters and initially zero: {"m", "v"}.
  virtual std::vector<std::string> state() const = 0;
  // state: one pointer for each of state().
  virtual void apply(Index count,
                     const Update& update,
                     const real* gradient,
                     real* value,
                     std::span<real* const> state) const = 0;
  // Returns whether a zero gradient changes neither value nor state, so that table rows without a
  // gradient may be skipped.
  virtual bool rests_without_gradient() const { return false; }
  virtual double learning_rate() const = 0;  // before the schedule's factor
  // Decay decoupled from the gradient (Loshchilov and Hutter 2019): before each step w -= rate weight_decay w,
  // with the schedule's rate, for all parameters. TrainingStep applies it.
  virtual double weight_decay() const { return 0; }
};

inline constexpr const char* kWeightDecay =
    "before each step, w -= rate weight_decay w for all parameters (Loshchilov and Hutter 2019); "
    "null: none";

struct OptimizerKind {
  static constexpr const char* name = "optimizer";
  using Make = std::unique_ptr<Optimizer>();
};

// A dev metric that controls early stopping, schedules, or which epochs are averaged.
class WatchedMetric {
 public:
  // given: "dev/" and the name of a registered metric, the value of `option`. Throws SpecError.
  WatchedMetric(const std::string& option, const std::string& given);

  // Throws SpecError if the metric is not measured, or not defined on the dev sentences.
  double value(const MetricTable& dev) const;
  bool better(double value, double than) const { return higher_ ? value > than : value < than; }

 private:
  std::string option_;
  std::string name_;
  bool higher_;
};

struct TrainingPosition {
  Index update = 1;   // the next update, from 1
  Index epoch = 0;    // finished passes over the training data
  Index batch = 0;    // finished batches of this epoch
  Index batches = 1;  // number of batches in this epoch

  double epochs() const {
    return static_cast<double>(epoch) + static_cast<double>(batch) / static_cast<double>(batches);
  }
};

// A learning-rate schedule: a factor on the optimiser's own rate, for each update; some are driven by a dev
// metric.
class Schedule {
 public:
  virtual ~Schedule() = default;
  // A function of the position, and of the dev evaluations so far.
  virtual double factor(const TrainingPosition& position) const = 0;
  virtual void evaluated(const MetricTable&) {}
  // The dev metric that the schedule needs, "dev/" and a name; empty if it needs none.
  virtual std::string watches() const { return {}; }
  // State from evaluations, for checkpoints.
  virtual std::vector<double> state() const { return {}; }
  virtual void restore(const std::vector<double>&) {}
};

struct ScheduleKind {
  static constexpr const char* name = "schedule";
  using Make = std::unique_ptr<Schedule>();
};

}  // namespace softalign

#define SOFTALIGN_OPTIMIZER(name, Class, summary) \
  SOFTALIGN_PLUGIN(OptimizerKind, name, Class, summary)
#define SOFTALIGN_SCHEDULE(name, Class, summary) \
  SOFTALIGN_PLUGIN(ScheduleKind, name, Class, summary)
