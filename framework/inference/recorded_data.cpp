#include "framework/inference/recorded_data.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/read_vocabularies.hpp"
#include "framework/train/run_name.hpp"
#include "framework/train/warm_start.hpp"

namespace softalign {
namespace {

using SortedJson = nlohmann::json;

constexpr std::size_t kLongest = 4096;  // bytes of a path; the system opens none that is longer

// The digest is that of a file's bytes or, of a record or its folder, that of its parameters or vocabularies.
bool holds(const fs::path& file, const std::string& digest) {
  std::error_code none;
  for (const auto& hash : {+[](const fs::path& f) { return input_hash({f.string()}); },
                           +[](const fs::path& f) { return parameters_sha256(f); }})
    try {
      if (fs::exists(file, none) && file_digest(hash(file)) == digest) return true;
    } catch (const Error&) {  // it cannot be read, or is no record
    }
  return false;
}

// The longest end of a path that is below any folder it may be put in.
fs::path end_of(const fs::path& path) {
  fs::path end;
  for (const fs::path& part : path.relative_path())
    if (!end.empty() || part != "..") end /= part;
  return end;
}

// The nearest folder above the record first, and the working directory last.
std::optional<fs::path> new_place(const fs::path& record,
                                  const fs::path& old,
                                  const std::string& digest) {
  for (fs::path above = whole_path(record).parent_path();; above = above.parent_path()) {
    if (auto file = find_below(above, old, digest)) return file;
    if (above == above.parent_path()) return find_below(fs::current_path(), old, digest);
  }
}

// `identity`: what stands there in the run's identity, the digest of a file for its path.
void add_files(Value& value, const SortedJson& identity, DataFiles& files) {
  for (Value::Entry& entry : value.entries)
    if (identity.is_object() && identity.contains(entry.key))
      add_files(entry.value, identity[entry.key], files);
  if (value.is_list() && identity.is_array() && identity.size() == value.items.size())
    for (std::size_t i = 0; i < value.items.size(); ++i)
      add_files(value.items[i], identity[i], files);
  if (!value.is_scalar() || !identity.is_string()) return;
  const auto digest = identity.get<std::string>();
  if (is_file_digest(digest) && value.text.size() <= kLongest) files.emplace_back(&value, digest);
}

// Paths at which two JSON trees differ.
void differences(const SortedJson& a,
                 const SortedJson& b,
                 const std::string& path,
                 std::vector<std::string>& found) {
  if (!a.is_object() || !b.is_object()) {
    if (a != b) found.push_back(path);
    return;
  }
  for (const auto& [key, value] : a.items())
    differences(value,
                b.contains(key) ? b[key] : SortedJson(),
                path.empty() ? key : path + "." + key,
                found);
}

SortedJson recorded_identity(const Record& record) {
  SortedJson identity = read_json<SortedJson>(record.identity_json());
  if (!identity.is_object()) throw damaged_record(record.file(), "its identity_json is no JSON");
  return identity;
}

// What names files.
SortedJson inputs_of(const SortedJson& identity) {
  SortedJson inputs = SortedJson::object();
  for (const char* block : {"task", "init"})
    if (identity.contains(block)) inputs[block] = identity[block];
  return inputs;
}

// The options below `node` that name a file which does not exist.
void find_missing(const OptionNode& node, std::vector<std::string>& found) {
  const auto missing = [](const InputFile& file) {
    std::error_code none;
    return !file.path.empty() && !fs::exists(file.path, none);
  };
  const auto* const file = std::get_if<InputFile>(&node.value);
  const auto* const files = std::get_if<InputFiles>(&node.value);
  if ((file && missing(*file)) || (files && std::ranges::any_of(*files, missing)))
    found.push_back(node.path);
  for (const OptionNode& child : node.children) find_missing(child, found);
}

}  // namespace

std::optional<fs::path> find_below(const fs::path& folder,
                                   const fs::path& old,
                                   const std::string& digest) {
  for (fs::path end = end_of(old); !end.empty();) {
    if (fs::path file = folder / end; holds(file, digest)) return file;
    fs::path shorter;
    for (auto part = std::next(end.begin()); part != end.end(); ++part) shorter /= *part;
    end = std::move(shorter);
  }
  return std::nullopt;
}

void find_moved_data(const Record& record, Value& spec) {
  const fs::path folder = record.file().parent_path();
  for (auto& [path, digest] : data_files(record, spec)) {
    if (holds(folder / path->text, digest)) continue;
    if (const auto place = new_place(record.file(), path->text, digest))
      path->text = place->string();
  }
}

DataFiles data_files(const Record& record, Value& spec) {
  DataFiles files;
  add_files(spec, read_json<SortedJson>(record.identity_json()), files);
  return files;
}

std::vector<std::string> task_differences(const Record& a, const Record& b) {
  std::vector<std::string> found;
  differences(recorded_identity(a).value("task", SortedJson()),
              recorded_identity(b).value("task", SortedJson()),
              "task",
              found);
  return found;
}

std::string restore_advice(const Record& record, const std::vector<std::string>& missing) {
  return fmt::format("{}: restore these files, or name their new places: {}=FILE",
                     record.file().string(),
                     fmt::join(missing, "=FILE "));
}

DataChanges data_changes(const Record& record, const Spec& spec) {
  DataChanges found;
  find_missing(values_of(spec), found.missing);
  const SortedJson recorded = inputs_of(recorded_identity(record));
  const RunName name = run_name(spec, MissingFiles::are_left_out);
  differences(recorded, inputs_of(read_json<SortedJson>(name.identity_json)), "", found.changed);
  std::erase_if(found.changed, [&](const std::string& option) {
    return std::ranges::count(found.missing, option) > 0;
  });
  return found;
}

std::vector<std::string> changed_data(const Record& record, const Spec& spec) {
  DataChanges found = data_changes(record, spec);
  if (found.missing.empty()) return found.changed;
  try {
    run_name(spec);
  } catch (const DataError& fault) {
    throw DataError("{}\n{}", fault, restore_advice(record, found.missing));
  }
  return found.changed;
}

}  // namespace softalign
