// Averages of parameters over training, which are evaluated and tested instead of the last update's
// (AverageOptions). Their state is part of every checkpoint.
#pragma once

#include <optional>
#include <vector>

#include "framework/base/workers.hpp"
#include "framework/record/journal/checkpoint.hpp"
#include "framework/train/optimizer.hpp"
#include "framework/train/train_options.hpp"

namespace softalign {

class Averaging {
 public:
  using Numbers = std::vector<real>;

  // size: that of the parameters' flat buffer. Throws SpecError for an invalid metric.
  Averaging(const AverageOptions& options, Index size);

  // begin is called before the first update, updated after each.
  void begin(const real* parameters);
  void updated(Index update, const real* parameters, Workers& workers);
  // Returns the parameters for a dev evaluation; empty: `parameters`.
  std::optional<Numbers> for_evaluation(const real* parameters) const;
  // Called after that evaluation.
  void evaluated(const MetricTable& dev, const real* parameters);
  // Returns the parameters for the test; empty: those selected by the dev evaluations.
  std::optional<Numbers> for_test() const;

  void save(Blobs& blobs) const;
  void restore(const Checkpoint& checkpoint);  // throws DataError

 private:
  struct Epoch {
    double value;  // of the metric, for "best"
    Numbers parameters;
  };
  void keep(double value, const real* parameters);
  Numbers mean(const std::vector<const real*>& of) const;
  Numbers mean_of_epochs() const;

  AverageOptions options_;
  std::size_t size_;
  WatchedMetric metric_;
  Numbers moving_;             // exponential
  std::vector<Epoch> epochs_;  // last, best: epochs or states of `every`, in training order
};

}  // namespace softalign
