#include "framework/record/folder/checks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"
#include "framework/record/file.hpp"
#include "framework/record/journal/checkpoint.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

bool is_hash_of_file(const Json& json) {
  return json.is_string() && is_file_digest(json.get_ref<const std::string&>());
}

bool says(const Value& value, const Json& json) {
  if (json.is_null()) return value.is_null();
  if (json.is_array())
    return value.is_list() &&
           std::equal(value.items.begin(), value.items.end(), json.begin(), json.end(), says);
  if (!value.is_scalar()) return false;
  if (is_hash_of_file(json)) return true;  // the spec has the file's path
  if (json.is_string()) return value.text == json.get_ref<const std::string&>();
  if (!json.is_number_float()) return value.text == json.dump();
  try {
    return to_number(value) == json.get<double>();  // YAML writes 1.0e-08 for 1e-08
  } catch (const ScalarFault&) {
    return false;
  }
}

// Returns the path of the first option in which a map differs from the identity; empty: none. Only the top
// level may have other keys, which are for readers.
std::string difference(const Value& map,
                       const Json& identity,
                       const std::string& path,
                       const std::vector<std::string>& except) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, json] : identity.items()) {
    if (std::ranges::count(except, below(key)) > 0) continue;
    const Value::Entry* const entry = map.find(key);
    if (!entry) return below(key);
    if (json.is_object()) {
      if (!entry->value.is_map()) return below(key);
      if (const std::string found = difference(entry->value, json, below(key), except);
          !found.empty())
        return found;
    } else if (!says(entry->value, json)) {
      return below(key);
    }
  }
  if (path.empty()) return "";
  for (const Value::Entry& entry : map.entries)
    if (!entry.value.is_null() && !identity.contains(entry.key) &&
        std::ranges::count(except, below(entry.key)) == 0)
      return below(entry.key);
  return "";
}

}  // namespace

void check_spec_files(const RunFolder& run,
                      const std::string& id,
                      const std::vector<std::string>& except) {
  const auto damaged = [&](const std::filesystem::path& file, const std::string& reason) {
    return DataError(
        "{}: {}; move {} away if it exists and run the spec again, which writes both anew",
        file.string(),
        reason,
        run.record().string());
  };
  for (const auto& file : {run.identity(), run.spec()})
    if (!is_there(file)) throw damaged(file, "missing");
  const std::string canonical = read_file(run.identity());
  if (!id.empty() && run_id(identity(canonical)) != id)
    throw damaged(run.identity(), "damaged: its hash is not the run ID");
  std::string other;
  try {
    SpecTree tree = parse_tree(read_file(run.spec()), run.spec().string());
    interpolate(tree.root);
    other = difference(tree.root, read_json<Json>(canonical), "", except);
  } catch (const SpecError& error) {
    throw damaged(run.spec(), fmt::format("damaged ({})", in_one_line(error)));
  } catch (const Json::exception&) {
    throw damaged(run.identity(), "damaged: no JSON");
  }
  if (!other.empty())
    throw damaged(run.spec(), fmt::format("damaged: {} does not match identity.json", other));
}

void check_file_type(const fs::path& path, fs::file_type wanted) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == wanted || type == fs::file_type::not_found) return;
  const std::string shown = printable(path.string(), kWhole);
  if (type == fs::file_type::none) throw_unreadable(path, error.value());
  if (type == fs::file_type::symlink)
    throw DataError(
        "{}: is a link, but nothing is written through links in the folder of a run or a sweep; "
        "replace it by its target, or move it away, and run the same command again",
        shown);
  throw DataError("{}: is {}, not a {}; move it away and run the same command again",
                  shown,
                  type == fs::file_type::directory ? "a folder"
                  : type == fs::file_type::regular ? "a file"
                                                   : "a pipe or a device",
                  wanted == fs::file_type::directory ? "folder" : "file");
}

void check_replaceable(const fs::path& file, const std::function<bool(const fs::path&)>& ours) {
  check_file_type(file, fs::file_type::regular);
  if (is_there(file) && !ours(file))
    throw DataError("{}: was not made by softalign, or is damaged; move it away",
                    printable(file.string(), kWhole));
}

void check_names_in(const RunFolder& run) {
  for (const fs::path& file : {run.spec(), run.identity(), run.status(), run.record(), run.tags()})
    check_file_type(file, fs::file_type::regular);
  for (const Index attempt : run.journals())
    check_file_type(run.journal(attempt), fs::file_type::regular);
  for (const Index n : run.attempt_folders()) {
    check_file_type(run.attempt(n), fs::file_type::directory);
    for (const fs::path& file : {run.claim(n), run.released(n), run.environment(n), run.diff(n)})
      check_file_type(file, fs::file_type::regular);
  }
  check_file_type(run.checkpoints(), fs::file_type::directory);
  for (const std::string& name : names_in(run.checkpoints()))
    if (is_checkpoint(name)) check_file_type(run.checkpoints() / name, fs::file_type::regular);
}

void remove_temporaries(FileSystem& files, const RunFolder& run, bool claimed) {
  std::vector<fs::path> folders = {run.checkpoints()};
  for (const Index attempt : run.attempt_folders()) folders.push_back(run.attempt(attempt));
  std::error_code error;
  std::erase_if(folders, [&](const fs::path& folder) { return fs::is_symlink(folder, error); });
  folders.push_back(run.root);
  for (const fs::path& folder : folders) {
    for (const std::string& name : names_in(folder)) {
      const Temporary whose = temporary(name);
      if ((whose == Temporary::abandoned || (claimed && whose != Temporary::none)) &&
          fs::symlink_status(folder / name, error).type() == fs::file_type::regular)
        files.remove(folder / name);
    }
  }
}

}  // namespace softalign
