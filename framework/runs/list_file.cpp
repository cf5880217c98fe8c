#include "framework/runs/run_list.hpp"

#include <algorithm>
#include <set>

#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/config/fields.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

using Json = JsonObject;

constexpr const char* kPlanFormat = "softalign-plan";
constexpr int kVersion = 1;
constexpr const char* kRemedy =
    "do not edit plans by hand: `sweep extend` adds rows, and another sweep needs another name; if "
    "you delete the plan, the sweep is planned again and keeps its runs";

// The first line of a plan.
struct PlanHeader {
  std::string format = kPlanFormat;
  Index format_version = kVersion;
  std::string about = "written by softalign; do not edit";
  std::string hash, base;
  std::string file;  // relative to the folder, so that it is found from any working directory
  SweepSettings settings;

  template <class V>
  void describe(V& v) {
    v("format", format);
    v("format_version", format_version);
    v("about", about);
    v("hash", hash);
    v("file", file);
    v("base", base);
    settings.describe(v);
  }
};

fs::path file_seen_from(const fs::path& folder, const fs::path& file) {
  return fs::weakly_canonical(fs::absolute(file))
      .lexically_relative(fs::weakly_canonical(fs::absolute(folder)));
}

std::string text_of(const RunList& list) {
  PlanHeader header;
  header.hash = list.hash;
  header.base = list.base;
  header.file = file_seen_from(list.folder, list.file).string();
  header.settings = list;
  std::string text = stored(header).dump() + "\n";
  for (const ListedRun& row : list.rows) text += stored(row).dump() + "\n";
  return text + Json{{"rows", list.rows.size()}, {"sha256", sha256_hex(text)}}.dump() + "\n";
}

[[noreturn]] void edited(const fs::path& file) {
  throw SpecError("{}: changed since it was written; {}", file.string(), kRemedy);
}

void read_header(const Json& json, RunList& list, const Position& where) {
  if (json.value("format", "") == kPlanFormat && json.value("format_version", Json()) != kVersion)
    throw SpecError("{}: unknown format_version {}; use the version of softalign that wrote it",
                    where.str(),
                    json.value("format_version", Json()).dump());
  PlanHeader header = from_stored<PlanHeader>(json);
  const SweepSettings& settings = header.settings;
  const EarlyTerminateOptions& rule = settings.early_terminate;
  if (header.format != kPlanFormat || settings.seeds.empty() ||
      !settings.metric.name.starts_with("dev/") || rule.min_updates < 1 || rule.eta < 2)
    edited(where.file);
  list.hash = header.hash;
  list.base = header.base;
  list.file = normal_path(list.folder / header.file);
  list.set(std::move(header.settings));
}

// Checks that no name in the list leads out of its folder: the list may come from someone else, and its
// names become file names.
void check_names(const RunList& list, const Position& where) {
  legal_name(list.name, where);
  if (!list.base.empty()) legal_name(list.base, where);
}

void check_names(const ListedRun& row, const Position& where) {
  for (const std::string* name : {&row.run_id, &row.base}) legal_name(*name, where);
  for (const std::string* name : {&row.part, &row.variant})
    if (!name->empty()) legal_name(*name, where);
  if (row.below.empty()) legal_name(row.below, where);
  for (const fs::path& part : fs::path(row.below)) legal_name(part.string(), where);
}

// Returns all lines but the last, the checksum, which it checks.
std::vector<std::string> lines_of(const std::string& text, const fs::path& file) {
  std::vector<std::string> lines;
  std::size_t at = 0, last = 0;
  for (std::size_t end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
    last = at;
  }
  if (lines.size() < 2 || at != text.size()) edited(file);  // truncated
  const Json sum = read_json<Json>(lines.back());
  lines.pop_back();
  if (!sum.is_object() || sum.value("rows", Json()) != lines.size() - 1 ||
      sum.value("sha256", "") != sha256_hex(text.substr(0, last)))
    edited(file);
  return lines;
}

void read_bases(RunList& list) {
  std::set<std::string> names;
  for (const ListedRun& row : list.rows) names.insert(row.base);
  if (!list.base.empty()) names.insert(list.base);
  for (const std::string& name : names) {
    const fs::path file = list.place().base(name);
    if (!is_there(file))
      throw SpecError("{}: is missing; restore it, or delete {} and plan again (runs are kept)",
                      file.string(),
                      list.place().plan().string());
    const std::string text = read_file(file);
    if (list.add_base(parse_yaml(text, file.string())) != name)
      throw SpecError("{}:1:1: changed since it was planned; {}", file.string(), kRemedy);
  }
}

// Checks that the texts, such as file names, can be written and read again.
void check_texts(const RunList& list) {
  const auto check = [&](const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      if (!is_text(line))
        throw SpecError(
            "{}: its plan would contain a name that is not UTF-8, {}; rename that file or folder",
            printable(list.file.string(), kWhole),
            printable(line, kWhole));
      at += line.size() + 1;
    }
  };
  check(list.file.string());
  for (const ListedRun& row : list.rows)
    for (const Override& setting : row.set) check(setting.value.flow());
  for (const auto& [name, base] : list.bases) check(block_text(base));
}

}  // namespace

RunList read_list(const fs::path& folder) {
  RunList list;
  list.folder = folder;
  const fs::path file = list.place().plan();
  if (!is_there(file))
    throw SpecError("{}: not the folder of a sweep or study: it has no plan.jsonl",
                    folder.string());
  const std::vector<std::string> lines = lines_of(read_file(file), file);
  try {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Position where{file.string(), static_cast<int>(i + 1), 1};
      const Json json = read_json<Json>(lines[i]);
      if (i == 0) {
        read_header(json, list, where);
        check_names(list, where);
        continue;
      }
      list.rows.push_back(from_stored<ListedRun>(json));
      check_names(list.rows.back(), where);
      if (list.rows.back().k + 1 != std::ssize(list.rows)) edited(file);
    }
  } catch (const Json::exception&) {
    edited(file);
  } catch (const DataError&) {
    edited(file);
  }
  read_bases(list);
  return list;
}

void check_same(const RunList& list, const RunList& before) {
  if (before.hash == list.hash) return;
  throw SpecError(
      "{}:1:1: {} has a plan of the same name with another {}; give this one another name, or "
      "delete {}: runs are kept, and runs of both plans are not trained again",
      list.file.string(),
      list.folder.string(),
      list.base == before.base ? "method, parameters or rules" : "base spec",
      list.place().plan().string());
}

void check_runs(const RunList& made, const RunList& there) {
  check_same(made, there);
  for (std::size_t i = 0; i < std::min(made.rows.size(), there.rows.size()); ++i)
    if (made.rows[i].run_id != there.rows[i].run_id)
      throw DataError(
          "{}: row {} would now be run {}, not {}: its data or the program's options have changed; "
          "restore the data, or give this sweep another name",
          there.place().plan().string(),
          i,
          made.rows[i].run_id,
          there.rows[i].run_id);
}

Index write_list(const RunList& list, FileSystem& files) {
  check_texts(list);
  const std::string text = text_of(list);
  check_names_in(list.place());
  const ListFolder place = list.place();
  files.make_folders(place.bases());
  const FolderLock lock(list.folder);
  RunList before;
  if (is_there(place.plan())) before = read_list(list.folder);
  if (is_there(place.plan())) check_same(list, before);
  for (std::size_t i = 0; i < std::min(before.rows.size(), list.rows.size()); ++i)
    if (before.rows[i].run_id != list.rows[i].run_id || before.rows[i].below != list.rows[i].below)
      throw SpecError("{}: row {} no longer equals that of the plan; nothing was added",
                      place.plan().string(),
                      before.rows[i].k);
  const Index added = std::ssize(list.rows) - std::ssize(before.rows);
  if (is_there(place.plan()) && (added < 0 || read_file(place.plan()) == text)) return 0;
  for (const auto& [name, base] : list.bases) {
    const fs::path file = place.base(name);
    const std::string yaml = block_text(base);
    if (!is_there(file)) files.write_atomically(file, yaml);
    if (read_file(file) != yaml)
      throw SpecError("{}: an unexpected file in place of a base spec; move it away",
                      printable(file.string(), kWhole));
  }
  files.write_atomically(place.plan(), text);
  return added;
}

}  // namespace softalign
