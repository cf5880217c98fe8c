#include "framework/app/models/recorded_data.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/path.hpp"
#include "framework/data/file_hash.hpp"
#include "framework/train/run_name.hpp"

namespace softalign::app {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongest = 4096;  // bytes of a path; the system opens none that is longer

bool holds(const fs::path& file, const std::string& digest) {
  std::error_code none;
  try {
    return fs::is_regular_file(file, none) &&
           remembered_hash({file.string()}) == digest.substr(kFileDigest.size());
  } catch (const Error&) {
    return false;  // it cannot be read
  }
}

// The nearest folder first, and there the longest end of the old path.
std::optional<fs::path> new_place(const fs::path& record,
                                  const fs::path& old,
                                  const std::string& digest) {
  for (fs::path above = whole_path(record).parent_path();; above = above.parent_path()) {
    fs::path end = old.relative_path();
    while (!end.empty()) {
      if (fs::path file = above / end; holds(file, digest)) return file;
      fs::path shorter;
      for (auto part = std::next(end.begin()); part != end.end(); ++part) shorter /= *part;
      end = std::move(shorter);
    }
    if (above == above.parent_path()) return std::nullopt;
  }
}

// `identity`: what stands there in the run's identity, the digest of a file for its path.
void find_below(const fs::path& record, Value& value, const Json& identity) {
  for (Value::Entry& entry : value.entries)
    if (identity.is_object() && identity.contains(entry.key))
      find_below(record, entry.value, identity[entry.key]);
  if (!value.is_scalar() || !identity.is_string()) return;
  const auto digest = identity.get<std::string>();
  if (!is_file_digest(digest) || value.text.size() > kLongest || holds(value.text, digest)) return;
  if (const auto place = new_place(record, value.text, digest)) value.text = place->string();
}

// Paths at which two JSON trees differ.
void differences(const Json& a,
                 const Json& b,
                 const std::string& path,
                 std::vector<std::string>& found) {
  if (!a.is_object() || !b.is_object()) {
    if (a != b) found.push_back(path);
    return;
  }
  for (const auto& [key, value] : a.items())
    differences(
        value, b.contains(key) ? b[key] : Json(), path.empty() ? key : path + "." + key, found);
}

Json recorded_task(const Record& record) {
  const Json identity = Json::parse(record.identity_json(), nullptr, false);
  if (!identity.is_object()) throw damaged_record(record.file(), "its identity_json is no JSON");
  return identity.value("task", Json());
}

// The option that names a file of data, the first of the training data if there is one.
std::string first_file(const Json& identity, const std::string& path) {
  if (identity.is_string())
    return identity.get_ref<const std::string&>().starts_with("sha256:") ? path : "";
  std::string found;
  if (!identity.is_object()) return found;
  for (const auto& [key, value] : identity.items())
    if (const std::string below = first_file(value, path + "." + key);
        !below.empty() && (found.empty() || key == "train"))
      found = below;
  return found;
}

}  // namespace

void find_moved_data(const Record& record, Value& spec) {
  find_below(record.file(), spec, Json::parse(record.identity_json(), nullptr, false));
}

std::vector<std::string> task_differences(const Record& a, const Record& b) {
  std::vector<std::string> found;
  differences(recorded_task(a), recorded_task(b), "task", found);
  return found;
}

std::vector<std::string> changed_data(const Record& record, const Spec& spec) {
  std::vector<RunName> names;
  try {
    names = names_of(spec);
  } catch (const DataError& missing) {
    throw DataError("{}\n{}: restore these files, or name their new places: {}=FILE",
                    missing,
                    record.file().string(),
                    first_file(recorded_task(record), "task"));
  }
  std::vector<std::string> found;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    found.clear();
    differences(recorded_task(record),
                Json::parse(name->identity_json).value("task", Json()),
                "task",
                found);
    if (found.empty()) break;
  }
  return found;
}

}  // namespace softalign::app
