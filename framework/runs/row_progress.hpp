// How far a run is that another process works on, from its journal as it grows.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "framework/base/types.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/record/run_folder.hpp"

namespace softalign {

class RowProgress {
 public:
  RowProgress(RunFolder run, std::string metric)
      : run_(std::move(run)), metric_(std::move(metric)) {}

  void look();  // reads what is new

  Index update() const { return update_; }
  Index updates() const { return updates_; }  // 0: not known yet
  double value() const { return value_; }  // of the metric, at the last dev evaluation; NaN: none
  double seconds_per_update() const;       // NaN: not known yet
  double seconds_left() const;             // NaN: not known yet

 private:
  RunFolder run_;
  std::string metric_;  // "dev/loss"
  Index attempt_ = 0;
  std::unique_ptr<JournalTail> tail_;
  Index update_ = 0, updates_ = 0;
  Index first_update_ = -1;  // of this attempt, with the time it was recorded
  double first_time_ = 0, last_time_ = 0;
  double value_ = kUndefined;
};

}  // namespace softalign
