// Shows a training run: a line that refreshes in place on a terminal, plain lines otherwise.
#pragma once

#include <chrono>

#include "framework/train/observer.hpp"

namespace softalign::app {

class ProgressObserver final : public Observer {
 public:
  ProgressObserver();  // also catches SIGINT, SIGTERM and SIGUSR1
  void message(std::string_view text) override;
  void stage(std::string_view what, Index done, Index total) override;
  void update(const TrainingProgress& progress) override;
  void dev(const TrainingProgress& progress, const MetricTable& table, bool best) override;
  bool stop_requested() override;

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point drawn_{};
  Index first_update_ = -1;
  double tokens_ = 0;
};

}  // namespace softalign::app
