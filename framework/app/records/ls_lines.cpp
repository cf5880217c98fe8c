#include "framework/app/records/ls_lines.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "framework/analysis/run_index.hpp"
#include "framework/base/error.hpp"
#include "framework/base/suggest.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign::app {
namespace {

const std::string kDev = "dev/", kTest = "test/";

// Every key that sorts these lines, for a message.
std::vector<std::string> keys(const std::vector<Line>& lines) {
  std::set<std::string> metrics;
  for (const Line& line : lines) {
    for (const auto& [name, value] : line.summary.status.metrics)
      if (name.starts_with(kDev)) metrics.insert(name);
    for (const std::string& name : line.summary.test.metrics) metrics.insert(kTest + name);
  }
  std::vector<std::string> all = {"name", "run", "state", "updates", "age"};
  all.insert(all.end(), metrics.begin(), metrics.end());
  return all;
}

template <class Key>
void sort_by(std::vector<Line>& lines, const Key& key) {
  std::stable_sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
    return key(a.summary) < key(b.summary);
  });
}

// The smallest first.
void sort_by_number(std::vector<Line>& lines,
                    const std::function<double(const RunSummary&)>& number) {
  sort_by(lines, [&](const RunSummary& summary) {
    const double value = number(summary);
    return std::pair(std::isnan(value), std::isnan(value) ? 0 : value);
  });
}

// Whether the key was that of a metric.
bool sort_by_metric(std::vector<Line>& lines, const std::string& key) {
  const bool dev = key.starts_with(kDev);
  if (!dev && !key.starts_with(kTest)) return false;
  const std::string metric = key.substr((dev ? kDev : kTest).size());
  const double sign = higher_is_better(metric).value_or(false) ? -1 : 1;
  sort_by_number(lines, [&](const RunSummary& summary) {
    return sign * (dev ? dev_value(summary, metric) : test_value(summary, metric));
  });
  return true;
}

}  // namespace

std::vector<Line> lines_below(const std::string& folder) {
  std::vector<Line> lines;
  for (RunSummary& summary : index_runs(folder).runs) lines.push_back({std::move(summary), {}, {}});
  std::map<std::string, std::vector<Line*>> by_name;
  for (Line& line : lines) by_name[line.summary.name].push_back(&line);
  for (const auto& [name, same] : by_name) {
    std::vector<std::string> identities;
    for (const Line* line : same) identities.push_back(line->summary.identity);
    std::vector<Difference> found = differences(identities);
    const auto names = short_names(found);
    for (std::size_t i = 0; i < same.size(); ++i) {
      same[i]->differs = difference_text(found[i], names);
      same[i]->difference = std::move(found[i]);
    }
  }
  return lines;
}

double last_value(const RunSummary& summary, const std::string& name) {
  for (const auto& [known, value] : summary.status.metrics)
    if (known == name) return value;
  return kUndefined;
}

double dev_value(const RunSummary& summary, const std::string& metric) {
  return last_value(summary, kDev + metric);
}

double test_value(const RunSummary& summary, const std::string& metric) {
  const auto& names = summary.test.metrics;
  const auto found = std::find(names.begin(), names.end(), metric);
  return found == names.end() ? kUndefined : summary.test.at(0, usize(found - names.begin()));
}

void keep_states(std::vector<Line>& lines, const std::vector<std::string>& states) {
  if (states.empty()) return;
  std::vector<std::string> legal;
  for (const RunState state : run_states()) legal.emplace_back(to_string(state));
  for (const std::string& state : states)
    if (std::find(legal.begin(), legal.end(), state) == legal.end())
      throw SpecError(
          "--state: '{}' is no state of a run{}", printable(state), suggestion(state, legal));
  std::erase_if(lines, [&](const Line& line) {
    return std::find(states.begin(), states.end(), line.summary.state()) == states.end();
  });
}

void sort_lines(std::vector<Line>& lines, const std::string& key) {
  if (key.empty() || lines.empty()) return;
  if (const std::vector<std::string> legal = keys(lines);
      std::find(legal.begin(), legal.end(), key) == legal.end())
    throw SpecError("--sort: nothing here has a '{}'{}", printable(key), suggestion(key, legal));
  if (sort_by_metric(lines, key)) return;
  if (key == "name") sort_by(lines, [](const RunSummary& summary) { return summary.name; });
  if (key == "run") sort_by(lines, [](const RunSummary& summary) { return summary.run_id; });
  if (key == "state") sort_by(lines, [](const RunSummary& summary) { return summary.state(); });
  if (key == "updates")
    sort_by(lines, [](const RunSummary& summary) { return -summary.status.last_update; });
  if (key == "age")
    sort_by(lines, [](const RunSummary& summary) { return -summary.status.heartbeat; });
}

}  // namespace softalign::app
