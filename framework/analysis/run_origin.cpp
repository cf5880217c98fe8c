#include "framework/analysis/run_origin.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/config/interpolate.hpp"
#include "framework/config/yaml.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/provenance/provenance.hpp"

namespace softalign {
namespace {

constexpr const char* kWallTime = "wall_time";

// Reads the notes and tags of a resolved spec, which are not part of the run ID.
void read_remarks(const std::string& spec_yaml, const std::string& file, RunOrigin& origin) {
  Value spec = parse_yaml(spec_yaml, file);
  interpolate(spec);
  if (const Value::Entry* notes = spec.find("notes")) origin.notes = notes->value.text;
  if (const Value::Entry* tags = spec.find("tags"))
    for (const Value& tag : tags->value.items) origin.tags.push_back(tag.text);
}

std::vector<std::string> texts_in(const Record& record, const std::string& name) {
  if (!record.has("provenance/attempts/" + name)) return {};
  const Values values = record.array("provenance/attempts", name).values;
  const auto* texts = std::get_if<std::vector<std::string>>(&values);
  if (!texts) throw damaged_value(record.file(), "provenance/attempts/" + name);
  return *texts;
}

void take_changed_tags(const RunFolder& run, RunOrigin& origin) {
  if (!is_there(run.tags())) return;
  try {
    origin.tags = from_stored_text<std::vector<std::string>>(read_file(run.tags()));
  } catch (const DataError& error) {
    throw DataError("{}: damaged ({}); remove it", run.tags().string(), error.what());
  }
}

std::string commit_text(const std::string& commit, bool dirty) {
  return commit == "unknown" || commit.empty() || !dirty ? commit : commit + "-dirty";
}

}  // namespace

double seconds_of(const SeriesColumns& series) {
  double seconds = kUndefined;
  if (const auto wall = series.columns.find(kWallTime); wall != series.columns.end())
    for (const double time : wall->second)
      if (std::isfinite(time) && !(time < seconds)) seconds = time;
  return seconds;
}

RunOrigin origin_of(const Record& record) {
  RunOrigin origin;
  try {
    read_remarks(record.spec_yaml(), "provenance/spec_yaml", origin);
  } catch (const SpecError& error) {
    throw damaged_record(record.file(), error.what());
  }
  if (const auto started = texts_in(record, "started"); !started.empty())
    origin.started = started.front();
  if (const auto hosts = texts_in(record, "host"); !hosts.empty()) origin.host = hosts.back();
  for (const char* series : {"train", "dev", "system"})
    if (record.has(std::string(series) + "/" + kWallTime))
      if (const double seconds = seconds_of(record.series(series, {kWallTime}));
          !(seconds < origin.seconds) && std::isfinite(seconds))
        origin.seconds = seconds;
  origin.commit =
      commit_text(record.attribute<std::string>("provenance", "git_commit").value_or(""),
                  record.attribute<Index>("provenance", "git_dirty").value_or(0) != 0);
  take_changed_tags({folder_of(record.file())}, origin);
  return origin;
}

RunOrigin origin_of(const RunFolder& run) {
  RunOrigin origin;
  const auto read_if_sound = [](const auto& read) {
    try {
      read();
    } catch (const SpecError&) {
    } catch (const DataError&) {
    }
  };
  read_if_sound([&] {
    if (is_there(run.spec())) read_remarks(read_file(run.spec()), run.spec().string(), origin);
  });
  read_if_sound([&] {
    const std::optional<Owner> owner = newest_claim(run);
    if (!owner) return;
    origin.host = owner->host;
    origin.started = utc_time(owner->time);
    if (const fs::path file = run.environment(owner->attempt); is_there(file)) {
      const auto environment = read_json<JsonObject>(read_file(file));
      if (is_environment(environment.dump()))
        origin.commit = commit_text(environment.value("git_commit", std::string()),
                                    environment.value("git_dirty", false));
    }
  });
  read_if_sound([&] { take_changed_tags(run, origin); });
  return origin;
}

std::vector<std::string> change_tags(const RunFolder& run,
                                     const std::vector<std::string>& add,
                                     const std::vector<std::string>& remove) {
  if (!is_folder(run.root))
    throw SpecError(
        "{}: a record alone keeps the tags of its spec; only a run's folder takes others",
        run.root.string());
  constexpr std::size_t kLongest = 100;
  for (const std::string& tag : add)
    if (tag.size() > kLongest || tag.find(',') != tag.npos || has_control_characters(tag))
      throw SpecError("'{}' cannot be a tag: use at most {} characters, no comma and no line end",
                      printable(tag),
                      kLongest);
  check_names_in(run);
  const FolderLock lock(run.root);
  std::vector<std::string> tags =
      (is_there(run.record()) ? origin_of(Record(run.record())) : origin_of(run)).tags;
  for (const std::string& tag : remove)
    if (std::erase(tags, tag) == 0)
      throw SpecError("{}: has no tag '{}'{}",
                      short_path(run.root),
                      printable(tag),
                      tags.empty() ? "" : suggestion(tag, tags));
  for (const std::string& tag : add)
    if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(tag);
  FileSystem::real().write_atomically(run.tags(), stored_text(tags));
  return tags;
}

}  // namespace softalign
