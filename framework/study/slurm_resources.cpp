#include "framework/study/slurm_resources.hpp"

#include <algorithm>
#include <limits>
#include <regex>
#include <utility>

#include "framework/base/text.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

// "--mem-per-gpu=3G" is "--mem-per-gpu".
std::string option_name(const std::string& option) { return option.substr(0, option.find('=')); }

// What Slurm calls an option in its messages (22.05 and 24.11), the more telling words first.
constexpr std::pair<const char*, const char*> kWords[] = {{"partition", "partition"},
                                                          {"qos", "qos"},
                                                          {"account", "account"},
                                                          {"--time", "time"},
                                                          {"time limit", "time"},
                                                          {"--mem", "memory"},
                                                          {"memory", "memory"},
                                                          {"cpu", "cpus"},
                                                          {"feature", "options"}};

}  // namespace

std::optional<double> slurm_seconds(const std::string& time) {
  if (lower_case(time) == "unlimited" || lower_case(time) == "infinite")
    return std::numeric_limits<double>::infinity();
  static const std::regex pattern(
      "(?:([0-9]{1,6})-)?([0-9]{1,6})(?::([0-9]{1,6}))?(?::([0-9]{1,6}))?");
  std::smatch part;
  if (!std::regex_match(time, part, pattern)) return std::nullopt;
  const auto number = [&](std::size_t i) { return part[i].matched ? std::stod(part[i].str()) : 0; };
  const double first = number(2), second = number(3), third = number(4);
  if (part[1].matched) return 86400 * number(1) + 3600 * first + 60 * second + third;
  if (part[4].matched) return 3600 * first + 60 * second + third;
  return 60 * first + second;
}

Position PlacedResources::place_of(const std::string& refusal) const {
  const std::string words = lower_case(refusal);
  for (std::size_t i = 0; i < values.options.size(); ++i)
    if (words.find(lower_case(option_name(values.options[i]))) != words.npos)
      if (const auto origin = origins.find("options"); origin != origins.end())
        return origin->second;
  for (const auto& [word, option] : kWords)
    if (words.find(word) != words.npos)
      if (const auto origin = origins.find(option); origin != origins.end()) return origin->second;
  return where;
}

PlacedResources read_resources(const Value* block,
                               const std::optional<std::filesystem::path>& profile) {
  PlacedResources resources;
  Value root = Value::map({"the sweep's defaults"});
  if (block) root = *block;
  if (profile) {
    Value over = read_yaml(*profile);
    if (!over.is_map())
      throw SpecError("{}: a profile is a map, as 'partition: short', not {}",
                      over.where.str(),
                      over.describe());
    std::vector<std::string> notes;  // who gives a profile knows that it replaces
    const Position where = over.where;
    if (block)
      merge(root, std::move(over), "resources", notes);
    else
      root = std::move(over);
    root.where = where;
  }
  resources.where = root.where;
  resources.origins = read_options(root, resources.values, "the resources").origins;
  return resources;
}

}  // namespace softalign
