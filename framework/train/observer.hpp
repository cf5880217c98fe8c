// Where a training run tells how far it is. The program draws it; the trainer knows no terminal.
#pragma once

#include <string_view>

#include "framework/eval/summary.hpp"

namespace softalign {

struct TrainingProgress {
  Index epoch = 0;  // from 1
  Index epochs = 0;
  Index update = 0;
  Index updates = 0;  // that there will be, unless training stops early
  double loss = 0;    // nats per target symbol, of the last update
  double gradient_norm = 0;
  Index tokens = 0;  // target symbols of the last update
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void message(std::string_view) {}  // a line for people
  virtual void stage(std::string_view /*what*/, Index /*done*/, Index /*total; 0: unknown*/) {}
  virtual void update(const TrainingProgress&) {}
  // After a dev evaluation. best: the watched metric improved.
  virtual void dev(const TrainingProgress&, const MetricTable&, bool /*best*/) {}
  virtual bool stop_requested() { return false; }  // finish the step, save, stop
};

}  // namespace softalign
