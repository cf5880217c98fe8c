#include "framework/record/published/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/history.hpp"

namespace softalign {
namespace {

using Contents = std::map<std::string, std::string>;  // path to the hash of the content

// NaNs are equal, because their sign depends on the processor.
template <class T>
std::vector<T> with_plain_nan(std::vector<T> values) {
  if constexpr (std::is_floating_point_v<T>)
    for (T& x : values)
      if (std::isnan(x)) x = std::numeric_limits<T>::quiet_NaN();
  return values;
}

std::string hash_of(const std::vector<Dimension>& dims, const Values& values) {
  ByteWriter out;
  for (const Dimension& d : dims) {
    out.text(d.name);
    out.number(d.size);
  }
  out.number(static_cast<std::uint8_t>(values.index()));
  std::visit([&](const auto& v) { out.list(with_plain_nan(v)); }, values);
  return sha256_hex(out.bytes());
}

void collect(const Hdf5Reader& file, const std::string& path, Contents& contents) {
  const bool of_machine = is_volatile(path), group = file.is_group(path);
  if (of_machine && group) return;
  const JsonObject attributes = file.attributes(path);
  for (const auto& [name, value] : attributes.items())
    if (!is_volatile(path + "@" + name)) contents[path + "@" + name] = value.dump();
  if (!group && !path.empty()) {
    if (!of_machine) contents[path] = hash_of(file.dims(path), file.read(path));
    return;
  }
  for (const std::string& child : file.children(path))
    collect(file, path.empty() ? child : path + "/" + child, contents);
}

Contents contents_of(const std::filesystem::path& record) {
  Contents contents;
  collect(Hdf5Reader(record), "", contents);
  return contents;
}

// Returns the first update at which a column of `again` has other numbers, or that `first` lacks.
std::optional<Index> first_difference(const SeriesColumns& first,
                                      const SeriesColumns& again,
                                      const std::string& column) {
  const auto a = first.columns.find(column), b = again.columns.find(column);
  const auto bits = [](const SeriesColumns& series, auto found, std::size_t i) {
    const double value = found == series.columns.end() ? kUndefined : found->second[i];
    return std::bit_cast<Index>(std::isnan(value) ? kUndefined : value);
  };
  for (std::size_t i = 0; i < again.updates.size(); ++i)
    if (i >= first.updates.size() || first.updates[i] != again.updates[i] ||
        bits(first, a, i) != bits(again, b, i))
      return again.updates[i];
  return std::nullopt;
}

}  // namespace

std::vector<std::string> compare_records(const std::filesystem::path& a,
                                         const std::filesystem::path& b) {
  const Contents x = contents_of(a), y = contents_of(b);
  std::vector<std::string> different;
  for (const auto& [path, hash] : x)
    if (!y.contains(path) || y.at(path) != hash) different.push_back(path);
  for (const auto& [path, hash] : y)
    if (!x.contains(path)) different.push_back(path);
  std::sort(different.begin(), different.end());
  return different;
}

std::string numeric_digest(const std::filesystem::path& record) {
  ByteWriter out;
  for (const auto& [path, hash] : contents_of(record)) {
    out.text(path);
    out.text(hash);
  }
  return sha256_hex(out.bytes());
}

std::vector<std::string> compare_until_end_of(const Record& record, const Record& part) {
  std::vector<std::string> different;
  for (const std::string& name : part.series_names()) {
    const SeriesColumns again = part.series(name);
    const SeriesColumns first = record.has(name) ? record.series(name) : SeriesColumns();
    std::set<std::string> columns;
    for (const SeriesColumns* series : {&first, &again})
      for (const auto& [column, values] : series->columns) columns.insert(column);
    for (const std::string& column : columns) {
      const std::string path = name + "/" + column;
      if (is_volatile(path)) continue;
      if (const auto update = first_difference(first, again, column))
        different.push_back(fmt::format("{} at update {}", path, *update));
    }
  }
  for (const std::string& path : compare_records(record.file(), part.file()))
    if (path.starts_with("data") || path == "@parameters") different.push_back(path);
  return different;
}

namespace {

using Json = JsonObject;

const std::string kDigest = ' ' + std::string(kFileDigest);

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// Returns the loaded plugin with this file name.
const LoadedPlugin* now_called(const std::string& name) {
  const auto& loaded = loaded_plugins();
  const auto found = std::ranges::find_if(
      loaded, [&](const LoadedPlugin& plugin) { return file_name(plugin.path) == name; });
  return found == loaded.end() ? nullptr : &*found;
}

// plugins: the attribute.
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
