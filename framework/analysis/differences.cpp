#include "framework/analysis/differences.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/error.hpp"

namespace softalign {
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
  leaves[path] = json.is_string() ? json.get<std::string>() : json.dump();
}

// A file's hash as people want to read it.
std::string shortened(const std::string& value) {
  constexpr std::size_t kHash = 15;  // "sha256:" and enough to tell two files apart
  return value.starts_with("sha256:") ? value.substr(0, kHash) : value;
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

// Options that say nothing without the block that they are in.
const std::set<std::string_view> kNeedTheirBlock = {"after",
                                                    "decay",
                                                    "embeddings",
                                                    "every",
                                                    "factor",
                                                    "feed",
                                                    "k",
                                                    "least",
                                                    "metric",
                                                    "outputs",
                                                    "patience",
                                                    "scale",
                                                    "slope",
                                                    "weight",
                                                    "words"};

std::string short_name(const std::string& path, const std::set<std::string>& all) {
  for (std::size_t dot = path.rfind('.'); dot != path.npos && dot > 0;
       dot = path.rfind('.', dot - 1)) {
    const std::string end = path.substr(dot + 1);
    if (kNeedTheirBlock.contains(end)) continue;
    if (std::count_if(all.begin(), all.end(), [&](const auto& p) { return has_end(p, end); }) == 1)
      return end;
  }
  return path;
}

}  // namespace

std::vector<Difference> differences(const std::vector<std::string>& identities) {
  struct Option {  // of a run, as it is counted
    const std::string* path;
    const std::pair<const std::string, std::size_t>* value;
  };
  std::vector<std::vector<Option>> runs;
  Counts counts;
  std::size_t readable = 0;
  for (const std::string& identity : identities) {
    const Json json = Json::parse(identity, nullptr, false);
    std::vector<Option>& options = runs.emplace_back();
    if (!json.is_object()) continue;
    ++readable;
    Leaves leaves;
    collect(json, "", leaves);
    for (const auto& [path, value] : leaves) {
      const auto values = counts.try_emplace(path).first;
      const auto count = values->second.try_emplace(value).first;
      ++count->second;
      options.push_back({&values->first, &*count});
    }
  }
  std::vector<Difference> found;
  for (const std::vector<Option>& options : runs) {
    Difference& difference = found.emplace_back();
    for (const auto& [path, value] : options)
      if (value->second < readable && !goes_with_plugin(*path, counts))
        difference.emplace_back(*path, shortened(value->first));
    std::sort(difference.begin(), difference.end(), [](const auto& a, const auto& b) {
      const auto place = [](const std::string& path) {
        return std::pair(path != "seed", plain(path));
      };
      return place(a.first) < place(b.first);
    });
  }
  return found;
}

std::map<std::string, std::string> options_of(const std::string& identity) {
  const Json json = Json::parse(identity, nullptr, false);
  if (!json.is_object()) throw DataError("an identity that is no JSON object");
  Leaves leaves;
  collect(json, "", leaves);
  return leaves;
}

std::map<std::string, std::string> short_names(const std::vector<Difference>& all) {
  std::set<std::string> paths;
  for (const Difference& difference : all)
    for (const auto& [path, value] : difference) paths.insert(path);
  std::set<std::string> plain_paths;
  for (const std::string& path : paths) plain_paths.insert(plain(path));
  std::map<std::string, std::string> names;
  for (const std::string& path : paths) names[path] = short_name(plain(path), plain_paths);
  return names;
}

std::string difference_text(const Difference& difference,
                            const std::map<std::string, std::string>& names) {
  std::string text;
  for (const auto& [path, value] : difference)
    text += (text.empty() ? "" : " ") + names.at(path) + "=" + value;
  return text;
}

}  // namespace softalign
