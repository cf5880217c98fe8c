#include "framework/train/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/text.hpp"

namespace softalign {

WatchedMetric::WatchedMetric(const std::string& option, const std::string& given)
    : option_(option) {
  if (!given.starts_with("dev/"))
    throw SpecError("{}: '{}' must be \"dev/\" and a metric's name, such as dev/loss",
                    option,
                    printable(given));
  name_ = given.substr(4);
  try {
    higher_ = highest_is_best(name_);
  } catch (const SpecError& unfit) {
    throw SpecError("{}: {}", option, unfit);
  }
}

double WatchedMetric::value(const MetricTable& dev) const {
  if (std::ranges::count(dev.metrics, name_) == 0)
    throw SpecError("{}: dev/{} is not measured; name it in evaluate.metrics", option_, name_);
  const double value = dev.at("all", name_);
  if (std::isnan(value))
    throw SpecError(
        "{}: dev/{} is not measured: the dev sentences, the model or evaluate.search_dev do not "
        "allow it; watch another metric",
        option_,
        name_);
  return value;
}

}  // namespace softalign
