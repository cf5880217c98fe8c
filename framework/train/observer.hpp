// Interfaces to follow a training run: an Observer receives its progress, which the program displays; a Pruner
// decides whether it continues. The trainer knows neither a terminal nor other runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "framework/eval/metric.hpp"

namespace softalign {

struct TrainingProgress {
  Index epoch = 0;  // from 1
  Index epochs = 0;
  Index update = 0;
  Index updates = 0;  // planned number; training may stop early
  double loss = 0;    // nats per target symbol, of the last update
  double gradient_norm = 0;
  Index tokens = 0;  // target symbols of the last update
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void message(std::string_view) {}  // a line for the user
  virtual void stage(std::string_view /*what*/, Index /*done*/, Index /*total; 0: unknown*/) {}
  virtual void update(const TrainingProgress&) {}
  // After a dev evaluation. best: the watched metric improved.
  virtual void dev(const TrainingProgress&, const MetricTable&, bool /*best*/) {}
  virtual bool stop_requested() { return false; }  // finish the step, save, stop
};

// Decides after every dev evaluation whether a run of a sweep continues. The trainer does not know other
// runs; the pruner does.
class Pruner {
 public:
  virtual ~Pruner() = default;
  // Returns the reason to stop, if there is one. A run that was killed and resumed asks about the same
  // update again, and must get the same answer.
  virtual std::optional<std::string> stop(Index update, const MetricTable& dev) = 0;
  // Returns the reason for a stop that was decided before this process began, at this update or earlier.
  virtual std::optional<std::string> stopped_before(Index update) const = 0;
  // Returns all decisions so far as a JSON object: /provenance/early_termination of the record.
  virtual std::string decisions() const = 0;
};

// Stops at a given update whatever the metrics are, to verify a pruned run.
class StopAtUpdate final : public Pruner {
 public:
  explicit StopAtUpdate(Index update) : update_(update) {}
  std::optional<std::string> stop(Index update, const MetricTable&) override {
    return stopped_before(update);
  }
  std::optional<std::string> stopped_before(Index update) const override {
    if (update < update_) return std::nullopt;
    return "as its record says";
  }
  std::string decisions() const override { return "{}"; }

 private:
  Index update_;
};

}  // namespace softalign
