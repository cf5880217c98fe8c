#include "framework/base/types.hpp"
#include "framework/study/sweep.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace softalign {
namespace {

Override* find(Configuration& configuration, const std::string& path) {
  const auto found = std::find_if(
      configuration.begin(), configuration.end(), [&](const auto& s) { return s.path == path; });
  return found == configuration.end() ? nullptr : &*found;
}

bool holds(Configuration& configuration, const std::vector<Override>& when) {
  return std::all_of(when.begin(), when.end(), [&](const Override& wanted) {
    const Override* const setting = find(configuration, wanted.path);
    return setting && same_value(setting->value, wanted.value);
  });
}

// Applies the conditions in the order of the file. Returns false if one excludes the configuration.
bool apply_conditions(const Sweep& sweep, Configuration& configuration) {
  for (const SweepCondition& condition : sweep.conditions) {
    if (!holds(configuration, condition.when)) continue;
    if (condition.exclude) return false;
    for (const Override& change : condition.set) {
      if (Override* const setting = find(configuration, change.path))
        setting->value = change.value;
      else
        configuration.push_back(change);
    }
    for (const std::string& path : condition.unset)
      std::erase_if(configuration, [&](const Override& s) { return s.path == path; });
  }
  return true;
}

std::string key_of(const Configuration& configuration) {
  std::string key;
  for (const Override& setting : configuration)
    key += setting.path + "=" + setting.value.flow() + "\n";
  return key;
}

// Returns the c-th point of the grid, or of the zipped lists.
Configuration listed(const Sweep& sweep, Index c) {
  Configuration configuration(sweep.parameters.size());
  for (std::size_t i = sweep.parameters.size(); i-- > 0;) {
    const SweepParameter& parameter = sweep.parameters[i];
    const Index size = std::ssize(parameter.values);
    const Index at = sweep.method == SweepMethod::zip ? c : c % size;
    if (sweep.method != SweepMethod::zip) c /= size;
    configuration[i] = {parameter.path, false, parameter.values[usize(at)], parameter.where};
  }
  return configuration;
}

Index points(const Sweep& sweep) {
  if (sweep.method == SweepMethod::zip) return std::ssize(sweep.parameters.front().values);
  Index count = 1;
  for (const SweepParameter& parameter : sweep.parameters) {
    const Index size = std::ssize(parameter.values);
    if (count > std::numeric_limits<Index>::max() / size) return std::numeric_limits<Index>::max();
    count *= size;
  }
  return count;
}

// Returns whether a configuration was added: it is neither excluded nor a duplicate.
bool take(const Sweep& sweep,
          Configuration configuration,
          std::set<std::string>& seen,
          Configurations& found) {
  if (!apply_conditions(sweep, configuration)) {
    ++found.excluded;
    return false;
  }
  if (!seen.insert(key_of(configuration)).second) {
    ++found.equal;
    return false;
  }
  found.list.push_back(std::move(configuration));
  return true;
}

void list_all(const Sweep& sweep, Index most, Configurations& found) {
  std::set<std::string> seen;
  const Index count = points(sweep);
  for (Index c = 0; c < count && std::ssize(found.list) < most; ++c)
    take(sweep, listed(sweep, c), seen, found);
}

void draw_all(const Sweep& sweep, Index most, Configurations& found) {
  constexpr std::uint64_t kMostAttempts = 1000;
  std::set<std::string> seen;
  const auto seed = static_cast<std::uint64_t>(sweep.search_seed);
  for (Index c = 0; c < most; ++c) {
    for (std::uint64_t attempt = 0;; ++attempt) {
      if (attempt == kMostAttempts && found.list.empty() && found.equal == 0)
        throw SpecError("{}: the conditions exclude every one of {} draws",
                        sweep.conditions.front().where.str(),
                        kMostAttempts);
      if (attempt == kMostAttempts)
        throw SpecError(
            "{}: no new configuration was found in {} draws, after {}: the values are used up; "
            "lower run_cap, or allow more values",
            sweep.parameters.front().where.str(),
            kMostAttempts,
            found.list.size());
      Configuration configuration;
      for (const SweepParameter& parameter : sweep.parameters)
        configuration.push_back(
            {parameter.path, false, parameter.draw(seed, c, attempt), parameter.where});
      if (take(sweep, std::move(configuration), seen, found)) break;
    }
  }
}

}  // namespace

Configurations expand(const Sweep& sweep, Index most) {
  Configurations found;
  if (sweep.method == SweepMethod::random)
    draw_all(sweep, most, found);
  else
    list_all(sweep, most, found);
  if (found.list.empty())
    throw SpecError(
        "{}: the conditions exclude every configuration",
        sweep.conditions.empty() ? sweep.file.string() : sweep.conditions.front().where.str());
  return found;
}

}  // namespace softalign
