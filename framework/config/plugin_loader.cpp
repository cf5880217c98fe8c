#include "framework/config/plugin_loader.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
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

constexpr std::uintmax_t kLargestFile = 1U << 30;  // bytes; plugins are smaller

std::string read_bytes(const std::string& path) {
  constexpr const char* kRemedy = "give the path of a plugin's .so file";
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  if (!regular && std::filesystem::exists(path, error))  // reading a pipe would wait for a writer
    throw SpecError("{}: is no regular file; {}", path, kRemedy);
  const std::uintmax_t size = regular ? std::filesystem::file_size(path, error) : 0;
  if (!error && size > kLargestFile)
    throw SpecError("{}: is larger than 1 GiB, so it is no plugin; {}", path, kRemedy);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw SpecError("{}: cannot be read; {}", path, kRemedy);
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(usize(in.gcount()));
  return bytes;
}

void check_abi(const std::string& path, std::string_view bytes) {
  const std::size_t begin = bytes.find("softalign-abi{");
  const std::size_t end = begin == bytes.npos ? begin : bytes.find('}', begin);
  if (end == bytes.npos)
    throw SpecError(
        "{}: not a softalign plugin (no ABI tag inside); build it with softalign_add_plugin", path);
  const auto theirs = fields(bytes.substr(begin, end - begin + 1));
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

// The dynamic loader would read past the end of a truncated file, and be killed by a signal. The section headers
// mark the end, because linkers put them last.
void check_end(const std::string& path, std::string_view bytes) {
  ElfW(Ehdr) header = {};
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
  const std::uint64_t end = header.e_shoff + header.e_shnum * sizeof(ElfW(Shdr));
  if (bytes.starts_with(ELFMAG) && bytes.size() < std::max(end, sizeof header))
    throw SpecError("{}: is cut short; copy or build it again", path);
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
  if (const LoadedPlugin* const plugin = find_loaded_plugin(given)) return *plugin;
  const std::string path = whole_path(given);
  if (printable(path, kWhole) != path)
    throw SpecError(
        "{}: records name their plugins, and this name is no text: it holds a control character or "
        "a byte that is no UTF-8; move it to another name",
        path);
  const std::string bytes = read_bytes(path);
  check_end(path, bytes);
  check_abi(path, bytes);
  const auto before = registered();
  const std::size_t errors = Registry::instance().errors().size();
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    throw SpecError("{}: cannot be loaded: {}; build it again", path, dlerror());
  if (!has_usual_arithmetic()) {
    set_usual_arithmetic();
    throw SpecError(
        "{}: changes how all numbers are rounded, as code that was compiled with -ffast-math does; "
        "build it without",
        path);
  }
  if (Registry::instance().errors().size() > errors)
    throw SpecError("{}: {}", path, Registry::instance().errors().back());
  LoadedPlugin plugin{path, sha256_hex(bytes), {}};
  for (const auto& [kind, source] : registered())
    if (!before.contains(kind)) plugin.added.push_back(kind);
  if (plugin.added.empty())
    throw SpecError(
        "{}: registers nothing; give it a line such as SOFTALIGN_SCORE(\"name\", Class, "
        "\"summary\"), "
        "and link it to the shared softalign library, not to a copy",
        path);
  if (read_bytes(path) != bytes)  // because a record will name the digest
    throw SpecError("{}: was changed while it was loaded; give the same command again", path);
  loaded().reserve(256);  // references stay valid
  loaded().push_back(std::move(plugin));
  return loaded().back();
}

const LoadedPlugin* find_loaded_plugin(const std::string& given) {
  const std::string path = whole_path(given);
  for (const LoadedPlugin& plugin : loaded())
    if (plugin.path == path) return &plugin;
  return nullptr;
}

const std::vector<LoadedPlugin>& loaded_plugins() { return loaded(); }

}  // namespace softalign
