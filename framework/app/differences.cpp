#include "framework/app/differences.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace softalign::app {
namespace {

using Json = nlohmann::json;
using Leaves = std::map<std::string, std::string>;
using Counts = std::map<std::string, std::map<std::string, std::size_t>>;  // path, value, runs

void collect(const Json& json, const std::string& path, Leaves& leaves) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items())
      collect(value, path.empty() ? key : path + "." + key, leaves);
    return;
  }
  const std::string text = json.is_string() ? json.get<std::string>() : json.dump();
  constexpr std::size_t kHash = 15;  // "sha256:" and enough to tell two files apart
  leaves[path] = text.starts_with("sha256:") ? text.substr(0, kHash) : text;
}

bool has_end(const std::string& path, const std::string& end) {
  return path == end || path.ends_with("." + end);
}

// A plugin's name stands for the plugin: score.type is score.
std::string plain(const std::string& path) {
  return path.ends_with(".type") ? path.substr(0, path.size() - 5) : path;
}

// Whether an option that is the same wherever there is one is missing elsewhere only because there
// another plugin is in its place: the plugin's own name says enough.
bool goes_with_plugin(const std::string& path, const Counts& counts) {
  if (counts.at(path).size() > 1) return false;
  std::string block = plain(path);
  for (std::size_t dot = block.rfind('.'); dot != block.npos; dot = block.rfind('.')) {
    block.resize(dot);
    const auto type = counts.find(block + ".type");
    if (type != counts.end() && type->second.size() > 1) return true;
  }
  return false;
}

std::string short_name(const std::string& path, const std::set<std::string>& all) {
  for (std::size_t dot = path.rfind('.'); dot != path.npos && dot > 0;
       dot = path.rfind('.', dot - 1)) {
    const std::string end = path.substr(dot + 1);
    if (std::count_if(all.begin(), all.end(), [&](const auto& p) { return has_end(p, end); }) == 1)
      return end;
  }
  return path;
}

}  // namespace

std::vector<Difference> differences(const std::vector<std::string>& identities) {
  std::vector<Leaves> runs;
  Counts counts;
  std::size_t readable = 0;
  for (const std::string& identity : identities) {
    const Json json = Json::parse(identity, nullptr, false);
    Leaves& leaves = runs.emplace_back();
    if (!json.is_object()) continue;
    ++readable;
    collect(json, "", leaves);
    for (const auto& [path, value] : leaves) ++counts[path][value];
  }
  std::vector<Difference> found;
  for (const Leaves& leaves : runs) {
    Difference& difference = found.emplace_back();
    for (const auto& [path, value] : leaves)
      if (counts[path][value] < readable && !goes_with_plugin(path, counts))
        difference.emplace_back(path, value);
    std::sort(difference.begin(), difference.end(), [](const auto& a, const auto& b) {
      const auto place = [](const std::string& path) {
        return std::pair(path != "seed", plain(path));
      };
      return place(a.first) < place(b.first);
    });
  }
  return found;
}

std::string difference_text(const Difference& difference, const std::vector<Difference>& all) {
  std::set<std::string> paths;
  for (const Difference& other : all)
    for (const auto& [path, value] : other) paths.insert(plain(path));
  std::string text;
  for (const auto& [path, value] : difference)
    text += (text.empty() ? "" : " ") + short_name(plain(path), paths) + "=" + value;
  return text;
}

}  // namespace softalign::app
