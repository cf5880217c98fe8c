#include "framework/train/watched_metric.hpp"

#include "framework/base/text.hpp"

namespace softalign {

WatchedMetric::WatchedMetric(const std::string& option,
                             const std::string& given,
                             const Position& where) {
  if (!given.starts_with("dev/"))
    throw SpecError("{}{}: '{}' must be \"dev/\" and a metric's name, such as dev/loss",
                    where.file.empty() ? "" : where.str() + ": ",
                    option,
                    printable(given));
  name_ = given.substr(4);
  Registry::instance().find(MetricKind::name, name_, where);
  higher_ = make_plugin<MetricKind>({.kind = MetricKind::name, .type = name_})->higher_is_better();
}

}  // namespace softalign
