// Whether a run of a sweep goes on: asked after every dev evaluation. The trainer knows no other
// runs; whoever makes the pruner does.
#pragma once

#include <optional>
#include <string>

#include "framework/eval/summary.hpp"

namespace softalign {

class Pruner {
 public:
  virtual ~Pruner() = default;
  // The reason to stop, if there is one. A run that was killed and resumed asks about the same
  // update again, and must get the same answer.
  virtual std::optional<std::string> stop(Index update, const MetricTable& dev) = 0;
  // The reason of a stop that was decided before this process began, at this update or earlier.
  virtual std::optional<std::string> stopped_before(Index update) const = 0;
  // All decisions so far, a JSON object: /provenance/early_termination of the record.
  virtual std::string decisions() const = 0;
};

// Stops at one update, whatever the metrics are: how a pruned run is verified.
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
