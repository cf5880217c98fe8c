#include "framework/config/plugin_loader.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "framework/base/hash.hpp"
#include "framework/base/path.hpp"
#include "framework/base/process.hpp"
#include "framework/base/retry.hpp"
#include "framework/base/types.hpp"
#include "framework/config/abi.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/shared_object.hpp"

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

constexpr std::uintmax_t kLargestFile = 1U << 30;  // bytes: no plugin is so large

std::string read_bytes(const std::string& path) {
  constexpr const char* kRemedy = "give the path of a plugin's .so file";
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  if (!regular && std::filesystem::exists(path, error))  // and a pipe would wait for its writer
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

void check_abi(const PluginFile& file) {
  const std::size_t begin = file.bytes.find("softalign-abi{");
  const std::size_t end = begin == std::string::npos ? begin : file.bytes.find('}', begin);
  if (end == std::string::npos)
    throw SpecError(
        "{}: not a softalign plugin (no ABI tag inside); build it with softalign_add_plugin",
        file.path);
  const auto theirs = fields(std::string_view(file.bytes).substr(begin, end - begin + 1));
  std::string differences;
  for (const auto& [name, ours] : fields(SOFTALIGN_ABI_TAG)) {
    const auto found = theirs.find(name);
    const std::string value = found == theirs.end() ? "(absent)" : found->second;
    if (value != ours)
      differences += fmt::format("; {} is {}, this program has {}", name, value, ours);
  }
  if (!differences.empty())
    throw SpecError("{}: built for another softalign{}; build it again against this one",
                    file.path,
                    differences);
}

// The name of a copy in memory that nobody can change. It stays open: the dynamic loader takes a name
// that it has seen for the file that it has loaded.
std::string sealed_copy(const std::string& bytes) {
  const int copy = memfd_create("plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  for (std::size_t done = 0; copy != -1 && done < bytes.size();) {
    const auto n = retry([&] { return write(copy, bytes.data() + done, bytes.size() - done); });
    if (n <= 0) throw MachineError("no memory for a plugin of {} bytes", bytes.size());
    done += usize(n);
  }
  if (fcntl(copy, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    throw MachineError("no memory file for a plugin: {}", std::strerror(errno));
  return fmt::format("/proc/self/fd/{}", copy);
}

std::map<std::string, std::string> registered() {
  std::map<std::string, std::string> names;
  const Registry& registry = Registry::instance();
  for (const std::string& kind : registry.kinds())
    for (const PluginEntry* entry : registry.entries(kind))
      names[kind + " " + entry->name] = entry->source;
  return names;
}

// Opens `name`, which holds the bytes of `file`.
LoadedPlugin& open_plugin(const PluginFile& file, const std::string& name) {
  const auto before = registered();
  const std::size_t errors = Registry::instance().errors().size();
  if (dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    throw SpecError("{}: cannot be loaded: {}; build it again", file.path, dlerror());
  if (!has_usual_arithmetic()) {
    set_usual_arithmetic();
    throw SpecError(
        "{}: changes how all numbers are rounded, as code that was compiled with -ffast-math does; "
        "build it without",
        file.path);
  }
  if (Registry::instance().errors().size() > errors)
    throw SpecError("{}: {}", file.path, Registry::instance().errors().back());
  LoadedPlugin plugin{file.path, file.sha256, {}};
  for (const auto& [kind, source] : registered())
    if (!before.contains(kind)) plugin.added.push_back(kind);
  if (plugin.added.empty())
    throw SpecError(
        "{}: registers nothing; give it a line such as SOFTALIGN_SCORE(\"name\", Class, "
        "\"summary\"), "
        "and link it to the shared softalign library, not to a copy",
        file.path);
  loaded().reserve(256);  // references stay valid
  loaded().push_back(std::move(plugin));
  return loaded().back();
}

}  // namespace

PluginFile read_plugin(const std::string& given) {
  PluginFile file{whole_path(given), {}, {}};
  if (printable(file.path, kWhole) != file.path)
    throw SpecError(
        "{}: records name their plugins, and this name is no text: it holds a control character or "
        "a byte that is no UTF-8; move it to another name",
        file.path);
  file.bytes = read_bytes(file.path);
  file.sha256 = sha256_hex(file.bytes);
  if (const std::string fault = shared_object_fault(file.bytes); !fault.empty())
    throw SpecError("{}: {}", file.path, fault);
  check_abi(file);
  return file;
}

const LoadedPlugin& load_plugin(const std::string& given) {
  if (const LoadedPlugin* const plugin = find_loaded_plugin(given)) return *plugin;
  const PluginFile file = read_plugin(given);
  // By its own name, for debuggers and for libraries beside it. Nothing is decided by the digest, but a
  // record will name it.
  const LoadedPlugin& plugin = open_plugin(file, file.path);
  if (sha256_hex(read_bytes(file.path)) != file.sha256)
    throw SpecError("{}: was changed while it was loaded; give the same command again", file.path);
  return plugin;
}

const LoadedPlugin& load_plugin(const PluginFile& file) {
  if (const LoadedPlugin* const plugin = find_loaded_plugin(file.path)) return *plugin;
  LoadedPlugin& plugin = open_plugin(file, sealed_copy(file.bytes));
  plugin.from_bytes = true;
  return plugin;
}

const LoadedPlugin* find_loaded_plugin(const std::string& given) {
  const std::string path = whole_path(given);
  for (const LoadedPlugin& plugin : loaded())
    if (plugin.path == path) return &plugin;
  return nullptr;
}

const std::vector<LoadedPlugin>& loaded_plugins() { return loaded(); }

}  // namespace softalign
