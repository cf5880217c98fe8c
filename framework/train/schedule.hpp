// The contract of a learning-rate schedule: a factor on the optimiser's own rate, for each update; and the dev metric that some are driven by.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/eval/metric.hpp"

namespace softalign {

// A dev metric that decisions are made by: early stopping, schedules, which epochs are averaged.

class WatchedMetric {
 public:
  // given: "dev/" and the name of a registered metric; `option` is whose value that is. Throws
  // SpecError.
  WatchedMetric(const std::string& option, const std::string& given);

  // Throws SpecError when the dev sentences do not define it.
  double value(const MetricTable& dev) const;
  bool better(double value, double than) const { return higher_ ? value > than : value < than; }

 private:
  std::string option_;
  std::string name_;
  bool higher_;
};

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
