#include "framework/config/plugin_loader.hpp"

#include <dlfcn.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "framework/base/hash.hpp"
#include "framework/config/abi.hpp"
#include "framework/config/registry.hpp"

namespace softalign {
namespace {

std::vector<LoadedPlugin>& loaded() {
  static std::vector<LoadedPlugin> list;
  return list;
}

// "softalign-abi{a=1;b=2}" -> {a: 1, b: 2}
std::map<std::string, std::string> fields(std::string_view tag) {
  std::map<std::string, std::string> result;
  tag.remove_prefix(tag.find('{') + 1);
  while (!tag.empty() && tag.front() != '}') {
    const std::size_t equals = tag.find('='), end = tag.find_first_of(";}", equals);
    if (equals == tag.npos || end == tag.npos) break;
    result.emplace(tag.substr(0, equals), tag.substr(equals + 1, end - equals - 1));
    tag.remove_prefix(tag[end] == ';' ? end + 1 : end);
  }
  return result;
}

void check_abi(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (in && !std::filesystem::is_regular_file(path))
    throw SpecError("{}: is no regular file; give the path of a plugin's .so file", path);
  if (!in) throw SpecError("{}: cannot be read; give the path of a plugin's .so file", path);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t begin = bytes.find("softalign-abi{");
  const std::size_t end = begin == bytes.npos ? begin : bytes.find('}', begin);
  if (end == bytes.npos)
    throw SpecError(
        "{}: not a softalign plugin (no ABI tag inside); build it with softalign_add_plugin", path);
  const auto theirs = fields(std::string_view(bytes).substr(begin, end - begin + 1));
  std::string differences;
  for (const auto& [name, ours] : fields(SOFTALIGN_ABI_TAG)) {
    const auto found = theirs.find(name);
    const std::string value = found == theirs.end() ? "(absent)" : found->second;
    if (value != ours)
      differences += fmt::format("; {} is {}, this program has {}", name, value, ours);
  }
  if (!differences.empty())
    throw SpecError(
        "{}: built for another softalign{}; build it again against this one", path, differences);
}

std::map<std::string, std::string> registered() {
  std::map<std::string, std::string> names;
  const Registry& registry = Registry::instance();
  for (const std::string& kind : registry.kinds())
    for (const PluginEntry* entry : registry.entries(kind))
      names[kind + " " + entry->name] = entry->source;
  return names;
}

}  // namespace

const LoadedPlugin& load_plugin(const std::string& given) {
  const std::string path = std::filesystem::absolute(given).lexically_normal().string();
  for (const LoadedPlugin& plugin : loaded())
    if (plugin.path == path) return plugin;
  check_abi(path);
  const auto before = registered();
  const std::size_t errors = Registry::instance().errors().size();
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    throw SpecError("{}: cannot be loaded: {}", path, dlerror());
  if (Registry::instance().errors().size() > errors)
    throw SpecError("{}: {}", path, Registry::instance().errors().back());
  LoadedPlugin plugin{path, sha256_file(path), {}};
  for (const auto& [name, source] : registered())
    if (!before.contains(name)) plugin.added.push_back(name);
  if (plugin.added.empty())
    throw SpecError("{}: registers nothing; link it to the shared softalign library, not to a copy",
                    path);
  loaded().reserve(256);  // references stay valid
  loaded().push_back(std::move(plugin));
  return loaded().back();
}

const std::vector<LoadedPlugin>& loaded_plugins() { return loaded(); }

}  // namespace softalign
