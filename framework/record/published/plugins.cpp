#include "framework/record/published/plugins.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/config/plugin_loader.hpp"

namespace softalign {
namespace {

using Json = JsonObject;

const std::string kDigest = ' ' + std::string(kFileDigest);

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// The loaded plugin of this file name.
const LoadedPlugin* now_called(const std::string& name) {
  const auto& loaded = loaded_plugins();
  const auto found = std::ranges::find_if(
      loaded, [&](const LoadedPlugin& plugin) { return file_name(plugin.path) == name; });
  return found == loaded.end() ? nullptr : &*found;
}

// `plugins`: the attribute.
std::vector<std::string> changed(const std::string& plugins) {
  std::vector<std::string> found;
  const Json list = read_json<Json>(plugins);
  for (const Json& item : list) {
    const std::string text = item.is_string() ? item.get<std::string>() : "";
    const std::size_t at = text.rfind(kDigest);
    if (at == text.npos) continue;
    const std::string name = file_name(text.substr(0, at)),
                      digest = text.substr(at + kDigest.size());
    const auto& loaded = loaded_plugins();
    if (std::any_of(loaded.begin(), loaded.end(), [&](const LoadedPlugin& plugin) {
          return plugin.sha256 == digest;
        }))
      continue;
    const LoadedPlugin* const now = now_called(name);
    found.push_back(
        now ? fmt::format("another {} (sha256 {}.. then, {}.. now)",
                          name,
                          digest.substr(0, 8),
                          now->sha256.substr(0, 8))
            : fmt::format("{} (sha256 {}..), which is not loaded now", name, digest.substr(0, 8)));
  }
  return found;
}

}  // namespace

std::string plugins_json() {
  Json plugins = Json::array();
  for (const LoadedPlugin& plugin : loaded_plugins())
    plugins.push_back(file_name(plugin.path) + kDigest + plugin.sha256);
  return plugins.dump();
}

std::vector<std::string> changed_plugins(const Record& record) {
  return changed(record.attribute<std::string>("provenance", "plugins").value_or("[]"));
}

std::vector<std::string> changed_plugins(const History& history) {
  std::vector<std::string> found;
  for (const Frame& frame : history.live)
    if (const auto* attributes = std::get_if<Attributes>(&frame);
        attributes && attributes->path == "provenance") {
      const Json json = read_json<Json>(attributes->json);
      const auto plugins = json.find("plugins");  // frames are JSON objects, see fault_of
      found = changed(plugins != json.end() && plugins->is_string() ? plugins->get<std::string>()
                                                                    : "[]");
    }
  return found;
}

}  // namespace softalign
