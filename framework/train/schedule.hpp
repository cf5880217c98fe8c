// The contract of a learning-rate schedule: a factor on the optimiser's own rate, for each update.
#pragma once

#include <memory>
#include <vector>

#include "framework/eval/summary.hpp"
#include "framework/train/watched_metric.hpp"

namespace softalign {

struct TrainingPosition {
  Index update = 1;   // the one to be made, from 1
  Index epoch = 0;    // finished passes over the training data
  Index batch = 0;    // batches of this epoch that are done ...
  Index batches = 1;  // ... of so many

  double epochs() const {
    return static_cast<double>(epoch) + static_cast<double>(batch) / static_cast<double>(batches);
  }
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  // A function of the position, and of the dev evaluations that it was told of.
  virtual double factor(const TrainingPosition& position) const = 0;
  virtual void evaluated(const MetricTable&) {}
  // The dev metric that it needs of them, "dev/" and a name; empty: none.
  virtual std::string watches() const { return {}; }
  // What evaluations left behind, for checkpoints.
  virtual std::vector<double> state() const { return {}; }
  virtual void restore(const std::vector<double>&) {}
};

struct ScheduleKind {
  static constexpr const char* name = "schedule";
  using Make = std::unique_ptr<Schedule>();
};

}  // namespace softalign

#define SOFTALIGN_SCHEDULE(name, Class, summary) \
  SOFTALIGN_PLUGIN(ScheduleKind, name, Class, summary)
