#include "framework/record/open_record.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/record/publish.hpp"
#include "framework/record/run_folder.hpp"

namespace softalign {
namespace {

std::filesystem::path record_file(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return path;
  const std::filesystem::path file = RunFolder{path}.record();
  if (!std::filesystem::exists(file)) {
    throw DataError("{}: no record yet; if its process is dead, `softalign recover` makes one",
                    path.string());
  }
  return file;
}

std::string join(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

template <class T>
std::vector<T> as(Values values, const std::string& path) {
  if (auto* typed = std::get_if<std::vector<T>>(&values)) return std::move(*typed);
  throw DataError("'{}' has another element type than a record's", path);
}

// The place of a value on an axis.
template <class T>
Index place_of(const std::vector<T>& axis, Index value) {
  const auto found = std::find(axis.begin(), axis.end(), static_cast<T>(value));
  return found == axis.end() ? -1 : static_cast<Index>(found - axis.begin());
}

std::vector<std::string> row(const std::vector<std::string>& all, Index at, Index width, Index n) {
  const auto from = all.begin() + at * width;
  return {from, from + n};
}

}  // namespace

Record::Record(const std::filesystem::path& path) : file_(record_file(path)), hdf5_(file_) {
  const auto json = nlohmann::json::parse(hdf5_.attributes(""));
  const auto format = json.find("format");
  if (format == json.end() || *format != "softalign-run")
    throw DataError("{}: an HDF5 file, but no softalign record", file_.string());
  if (const int version = json.value("format_version", 0); version > kFormatVersion) {
    throw DataError("{}: record format {} is newer than this program's {}: use a newer softalign",
                    file_.string(),
                    version,
                    kFormatVersion);
  }
  run_id_ = json.value("run_id", "");
  name_ = json.value("name", "");
  state_ = json.value("state", "");
  complete_ = json.value("complete", 0) != 0;
  last_update_ = json.value("last_update", Index{0});
}

std::vector<std::string> Record::children(const std::string& group) const {
  return group.empty() || has(group) ? hdf5_.children(group) : std::vector<std::string>{};
}

std::vector<std::string> Record::series_names() const {
  std::vector<std::string> names = children();
  std::erase_if(names, [&](const std::string& name) {
    return !hdf5_.is_group(name) || !has(name + "/update");
  });
  return names;
}

SeriesColumns Record::series(const std::string& name) const {
  SeriesColumns series;
  series.updates = as<std::int64_t>(hdf5_.read(name + "/update"), name + "/update");
  for (const std::string& column : children(name)) {
    const std::string path = name + "/" + column;
    if (column == "update" || hdf5_.is_group(path)) continue;
    Values values = hdf5_.read(path);
    if (auto* numbers = std::get_if<std::vector<double>>(&values);
        numbers && numbers->size() == series.updates.size())
      series.columns[column] = std::move(*numbers);
  }
  return series;
}

Array Record::array(const std::string& group, const std::string& name) const {
  const std::string path = join(group, name);
  if (!has(path)) throw DataError("{}: no '{}' in this record", file_.string(), path);
  return {.group = group,
          .name = name,
          .update = last_update_,
          .dims = hdf5_.dims(path),
          .values = hdf5_.read(path),
          .attributes = hdf5_.attributes(path)};
}

std::string Record::text(const std::string& group, const std::string& name) const {
  const std::string path = join(group, name);
  Values values = hdf5_.read(path);
  if (auto* bytes = std::get_if<std::vector<std::uint8_t>>(&values))
    return {bytes->begin(), bytes->end()};
  const auto strings = as<std::string>(std::move(values), path);
  if (strings.size() != 1) throw DataError("{}/{}: not a single text", file_.string(), path);
  return strings[0];
}

std::map<std::string, StoredParameter> Record::parameters() const {
  if (!has("parameters")) {
    throw DataError(
        "{}: holds no parameters: the run is {}, continue it to its end", file_.string(), state_);
  }
  std::map<std::string, StoredParameter> parameters;
  for (const std::string& name : children("parameters")) {
    Values values = hdf5_.read("parameters/" + name);
    auto* numbers = std::get_if<std::vector<float>>(&values);
    if (!numbers) continue;  // an axis
    StoredParameter parameter{.shape = {}, .values = std::move(*numbers)};
    for (const Dimension& d : hdf5_.dims("parameters/" + name)) parameter.shape.push_back(d.size);
    parameters[name] = std::move(parameter);
  }
  return parameters;
}

std::vector<Alignment> Record::alignments(const std::string& module, Index sentence) const {
  const std::string group = "alignments/" + module + "/";
  const auto updates = as<std::int64_t>(hdf5_.read(group + "update"), group);
  const auto sentences = as<std::int32_t>(hdf5_.read(group + "sentence"), group);
  const auto heads = as<std::int32_t>(hdf5_.read(group + "head"), group);
  const Index i = place_of(sentences, sentence);
  if (i < 0) throw DataError("{}: no sentence {} in {}", file_.string(), sentence, module);
  const auto src_len = as<std::int32_t>(hdf5_.read(group + "src_len"), group);
  const auto tgt_len = as<std::int32_t>(hdf5_.read(group + "tgt_len"), group);
  const auto src_tokens = as<std::string>(hdf5_.read(group + "src_tokens"), group);
  const auto tgt_tokens = as<std::string>(hdf5_.read(group + "tgt_tokens"), group);
  const std::vector<Dimension> dims = hdf5_.dims(group + "weights");
  const Index n = dims[1].size, tgt = dims[3].size, src = dims[4].size;
  const Index width = src_len[static_cast<std::size_t>(i)];
  std::vector<std::uint8_t> gold;
  if (has(group + "gold")) gold = as<std::uint8_t>(hdf5_.read(group + "gold"), group);

  std::vector<Alignment> found;
  for (Index u = 0; u < dims[0].size; ++u) {
    const Index height = tgt_len[static_cast<std::size_t>(u * n + i)];
    for (Index h = 0; h < dims[2].size && height > 0; ++h) {
      Alignment a;
      a.module = module;
      a.update = updates[static_cast<std::size_t>(u)];
      a.sentence = sentence;
      a.head = heads[static_cast<std::size_t>(h)];
      a.source = row(src_tokens, i, src, width);
      a.target = row(tgt_tokens, u * n + i, tgt, height);
      a.weights = hdf5_.read_block(group + "weights", {u, i, h, 0, 0}, {1, 1, 1, height, width});
      for (Index t = 0; t < height && !gold.empty(); ++t) {
        const auto from = gold.begin() + (i * tgt + t) * src;
        a.gold.insert(a.gold.end(), from, from + width);
      }
      found.push_back(std::move(a));
    }
  }
  return found;
}

}  // namespace softalign
