#include "framework/analysis/metric_name.hpp"

#include <charconv>

namespace softalign {
namespace {

constexpr std::string_view kBest = ":best";

bool is_name(const std::string& text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                              "YZ0123456789_.-") == text.npos;
}

}  // namespace

MetricName metric_name(const std::string& text) {
  MetricName name{.text = text, .series = {}, .metric = text, .best = text.ends_with(kBest)};
  if (name.best) name.metric.resize(text.size() - kBest.size());
  if (const std::size_t slash = name.metric.find('/'); slash != text.npos) {
    name.series = name.metric.substr(0, slash);
    name.metric.erase(0, slash + 1);
    if (name.series.empty()) name.metric.clear();  // refused below
  }
  if (!is_name(name.metric) || (!name.series.empty() && !is_name(name.series)))
    throw SpecError(
        "--metric '{}': expected a metric of the test, as bleu, or of a series, as dev/loss "
        "(its last value) or dev/loss:best",
        printable(text));
  if (name.series == "test") {
    name.series.clear();
    name.text = name.metric;
  }
  if (!name.best) return name;
  if (name.series.empty())
    throw SpecError("--metric {}: a test has one value, so there is no best one", text);
  const auto known = metric_named(name.metric);
  if (!known || !known->facts().higher_is_better)
    throw SpecError(
        "--metric {}: which end of '{}' is best is not known: it is no registered metric, or has "
        "none",
        text,
        name.metric);
  return name;
}

std::vector<MetricName> metric_names(const std::string& list) {
  std::vector<MetricName> names;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    names.push_back(metric_name(list.substr(at, end - at)));
    at = end + 1;
  }
  return names;
}

LengthRange length_range(const std::string& text) {
  LengthRange range;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.shortest);
  const char* rest = first.ptr;
  bool good = first.ec == std::errc{};
  if (good && rest == end) {
    range.longest = range.shortest;
  } else if (good && *rest == '-') {
    const auto last = std::from_chars(rest + 1, end, range.longest);
    good = last.ec == std::errc{} && last.ptr == end;
  } else {
    good = good && *rest == '+' && rest + 1 == end;
  }
  const bool padded = text.starts_with('0') || text.find("-0") != text.npos;
  if (!good || padded || range.shortest < 1 || range.longest < range.shortest)
    throw SpecError("--length '{}': expected source lengths from 1, as 31-50, 61+ or 40",
                    printable(text));
  return range;
}

}  // namespace softalign
