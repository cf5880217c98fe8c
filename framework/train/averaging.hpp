// Averages of parameters over training: which ones are evaluated and tested instead of the last update's
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

  // size: of the parameters' flat buffer. Throws SpecError.
  Averaging(const AverageOptions& options, Index size);

  // Before the first update, then after each.
  void begin(const real* parameters);
  void updated(Index update, const real* parameters, Workers& workers);
  // The parameters for a dev evaluation at the end of an epoch; empty: the parameters as they are.
  std::optional<Numbers> for_evaluation(const real* parameters) const;
  // After that evaluation.
  void evaluated(const MetricTable& dev, const real* parameters);
  // The parameters for the test; empty: those selected by the dev evaluations.
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
  std::vector<Epoch> epochs_;  // last, best: in the order of training, or the states of `every`
};

}  // namespace softalign
