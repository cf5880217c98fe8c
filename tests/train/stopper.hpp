// Stops its run after an update; -1: never.
#pragma once

#include "framework/train/observer.hpp"

namespace softalign::test {

struct Stopper final : Observer {
  explicit Stopper(Index at) : stop_at(at) {}
  void update(const TrainingProgress& progress) override { now = progress.update; }
  bool stop_requested() override { return stop_at >= 0 && now >= stop_at; }
  Index stop_at, now = 0;
};

}  // namespace softalign::test
