// Shows a training run on standard error: one line that refreshes in place on a terminal and never
// wraps, plain lines about every ten seconds otherwise.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "framework/train/observer.hpp"

namespace softalign::app {

class ProgressObserver : public Observer {
 public:
  enum class Signals { caught, left };
  // caught: interrupts become stop_requested(). left: they end the program, there is nothing to
  // save.
  explicit ProgressObserver(Signals signals = Signals::caught);
  ~ProgressObserver() override { clear(); }
  ProgressObserver(const ProgressObserver&) = delete;
  ProgressObserver& operator=(const ProgressObserver&) = delete;

  void message(std::string_view text) override;
  void stage(std::string_view what, Index done, Index total) override;
  void update(const TrainingProgress& progress) override;
  void dev(const TrainingProgress& progress, const MetricTable& table, bool best) override;
  bool stop_requested() override;
  void clear();  // takes the line away, before something is printed below it

 private:
  using Clock = std::chrono::steady_clock;

  bool due();  // whether it is time to draw again
  void draw(const std::string& head, double share, const std::string& tail);

  bool terminal_;
  bool drawn_on_ = false;  // a line stands there that must be cleared
  Clock::time_point drawn_;
  Clock::time_point started_;
  Index first_update_ = -1;
  double tokens_ = 0;
};

// head, a bar that is `share` full, and tail in at most `columns`: in a narrow line the bar gives
// way first, then the end of the text. No bar for a share below 0.
std::string progress_line(const std::string& head,
                          double share,
                          const std::string& tail,
                          std::size_t columns);

}  // namespace softalign::app
