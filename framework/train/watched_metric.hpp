// A dev metric that decisions are made by: early stopping, schedules, which epochs are averaged.
#pragma once

#include <string>

#include "framework/eval/summary.hpp"

namespace softalign {

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

}  // namespace softalign
