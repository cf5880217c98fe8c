#include "framework/record/published/publish.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/yaml.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {
namespace {

std::string id_of(const History& history) {
  return history.attempts.empty() ? "" : history.attempts.back().header.run_id;
}

// Returns the name in the spec, because the folder may have been copied.
std::string name_of(const RunFolder& run) {
  if (is_there(run.spec())) {
    try {
      const Value spec = parse_yaml(read_file(run.spec()), run.spec().string());
      const Value::Entry* name = spec.find("name");
      if (name && name->value.is_scalar()) return name->value.text;
    } catch (const SpecError&) {  // damaged: the name of the folder is used
    }
  }
  return whole_path(run.root).parent_path().filename().string();
}

JsonObject root_attributes(const RunFolder& run, const History& history) {
  const std::string end = history.end_state().value_or("running");
  return {{"format", kRecordFormat},
          {"format_version", kFormatVersion},
          {"run_id", id_of(history)},
          {"name", name_of(run)},
          {"complete", end == "complete"},
          {"state", end},
          {"last_update", history.last_update()},
          {"created", utc_time(unix_time())},
          {"framework_version", build_info().version}};
}

// Checks that all written datasets can be opened and have their shapes.
void check_counts(const Hdf5Writer& written, const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  for (const auto& [path, shape] : written.shapes()) {
    std::vector<Index> found;
    for (const Dimension& d : reader.dims(path)) found.push_back(d.size);
    if (found != shape)
      throw MachineError("{}: '{}' was not written completely", file.string(), path);
  }
}

bool is_test_result(const Frame& frame) {
  const auto below_test = [](const std::string& path) {
    return path == kTestGroup || path.starts_with(kTestGroup + std::string("/"));
  };
  if (const auto* array = std::get_if<Array>(&frame)) return below_test(array->group);
  const auto* attributes = std::get_if<Attributes>(&frame);
  return attributes && below_test(attributes->path);
}

// Returns the data that the record has and the journals lack, as a part of a sentence; "" if there are none.
std::string more_in_record(const RunFolder& run, const History& history) {
  if (!is_there(run.record())) return "";
  try {
    const auto end = published_end(run);
    if (end && history.end_state() != to_string(*end))
      return fmt::format("is {}, but the journals have no such end", to_string(*end));
    const Index updates = Record(run.record()).last_update();
    if (updates > history.last_update())
      return fmt::format(
          "has {} updates, but the journals only {}", updates, history.last_update());
  } catch (const DataError&) {  // recovery replaces a damaged record
  }
  return "";
}

void fill(Hdf5Writer& file, const RunFolder& run, const History& history) {
  file.attributes("", root_attributes(run, history));
  write_provenance(file, run, history);
  write_series(file, history.live);
  write_arrays(file, history.live);
  write_alignments(file, history.live);
  write_attributes(file, history.live);
}

}  // namespace

void publish(FileSystem& files,
             const RunFolder& run,
             History history,
             const std::function<void()>& last_check) {
  if (history.end_state() != to_string(RunState::complete))
    std::erase_if(history.live, is_test_result);
  Hdf5Writer file;
  try {
    fill(file, run, history);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    if (std::string_view(error.what()).starts_with(printable(run.root.string(), kWhole)))
      throw;  // it names its file
    // Each frame alone is valid, but together they are not.
    throw DataError(
        "{}: no record can be made of its journals: {}; move them away and run the spec again with "
        "--force",
        run.root.string(),
        error.what());
  }
  files.write_atomically(run.record(), file.image(), [&](const std::filesystem::path& temporary) {
    check_counts(file, temporary);
    if (last_check) last_check();
  });
}

bool end_is_published(const RunFolder& run) {
  const RunState state = run_status(run).state;
  const bool may_be =
      state == RunState::complete || state == RunState::planned;  // or a damaged record alone
  return may_be && published_end(run) == RunState::complete;
}

void recover(FileSystem& files, const RunFolder& run, const std::vector<std::string>& except) {
  check_names_in(run);
  remove_temporaries(files, run, false);
  const auto owner = newest_claim(run);
  if (!owner && run.journals().empty())
    throw DataError("{}: no run was started here", run.root.string());
  if (owner && !is_there(run.released(owner->attempt)) && proof_of_death(*owner).empty()) {
    throw MachineError("{}: {} works on this run and publishes its record itself",
                       run.root.string(),
                       owner->str());
  }
  History history = read_history(run);
  if (const std::string more = more_in_record(run, history); !more.empty())
    throw DataError(
        "{}: {}: they are damaged, and the record stays as it is", run.record().string(), more);
  check_spec_files(run, id_of(history), except);
  for (const Attempt& attempt : history.attempts) {
    const auto environment = run.environment(attempt.header.attempt);
    if (is_there(environment) && !is_environment(read_file(environment)))
      throw DataError("{}: damaged; move it away, and the record is made without it",
                      environment.string());
  }
  publish(files, run, std::move(history));
}

namespace {

constexpr std::array<std::string_view, 14> kHow{"cpu_model",
                                                "isa",
                                                "cpus",
                                                "version",
                                                "arithmetic",
                                                "compiler",
                                                "flags",
                                                "git_commit",
                                                "git_dirty",
                                                "libs",
                                                "gemm",
                                                "plugins",
                                                "started"};
const std::string kGroup = "provenance";
const std::string kAttempts = kGroup + "/attempts", kEvents = kGroup + "/events";

using Texts = std::vector<std::string>;

bool is_how(const std::string& name) { return std::ranges::find(kHow, name) != kHow.end(); }

Texts texts_in(const Record& record, const std::string& group, const std::string& name) {
  if (!record.has(group + "/" + name)) return {};
  Values values = record.array(group, name).values;
  auto* const texts = std::get_if<Texts>(&values);
  return texts ? std::move(*texts) : Texts();
}

// Recognises texts that name the machine.
class Machine {
 public:
  explicit Machine(const Record& record) {
    for (std::string& host : texts_in(record, kAttempts, "host")) hosts_.insert(std::move(host));
    hosts_.insert(record.attribute<std::string>(kGroup, "host").value_or(""));
    hosts_.erase("");
  }

  bool is_in(const std::string& text) const {
    static const std::regex path(R"((^|[^\w.])~?/\w|-[IL]/)");
    static const std::regex word(R"([\w.-]+)");
    const auto is_host = [&](const std::smatch& found) { return hosts_.contains(found.str()); };
    return std::regex_search(text, path) ||
           std::any_of(std::sregex_iterator(text.begin(), text.end(), word), {}, is_host);
  }

 private:
  std::set<std::string> hosts_;
};

// Copies the rows of a table whose texts do not name the machine; returns the number of the others.
Index copy_events(Hdf5Writer& file, const Record& record, const Machine& machine) {
  const Texts texts = texts_in(record, kEvents, "text"), times = texts_in(record, kEvents, "time");
  if (texts.empty()) return 0;
  const Values all = record.array(kEvents, "attempt").values;
  const auto* const attempts = std::get_if<std::vector<std::int32_t>>(&all);
  if (!attempts || attempts->size() != texts.size() || times.size() != texts.size())
    throw damaged_value(record.file(), kEvents);
  std::vector<std::int32_t> kept_attempts;
  Texts kept_times, kept_texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (machine.is_in(texts[i])) continue;
    kept_attempts.push_back((*attempts)[i]);
    kept_times.push_back(times[i]);
    kept_texts.push_back(texts[i]);
  }
  const std::vector<Dimension> dims{{"event", std::ssize(kept_texts)}};
  if (!kept_texts.empty()) {
    file.dataset(kEvents + "/attempt", dims, kept_attempts);
    file.dataset(kEvents + "/time", dims, kept_times);
    file.dataset(kEvents + "/text", dims, kept_texts);
  }
  return std::ssize(texts) - std::ssize(kept_texts);
}

}  // namespace

PublicCopy public_copy(const Record& record, const std::string& spec_yaml) {
  const Hdf5Reader from(record.file());
  const Machine machine(record);
  PublicCopy made;
  const auto leave_out = [&](const std::string& what) { made.left_out.push_back(what); };
  Hdf5Writer file;
  file.copy_attributes(from, "");
  for (const std::string& child : from.children(""))
    if (child != kGroup) file.copy(from, child);

  JsonObject how = JsonObject::object();
  const JsonObject attributes = from.attributes(kGroup);
  for (const auto& [name, value] : attributes.items()) {
    if (name == "spec_sha256") continue;
    if (is_how(name) && !(value.is_string() && machine.is_in(value.get<std::string>())))
      how[name] = value;
    else
      leave_out(name);
  }
  how["spec_sha256"] = sha256_hex(spec_yaml);
  file.attributes(kGroup, how);
  file.dataset(kGroup + "/spec_yaml", {}, Texts{spec_yaml});
  for (const std::string& child : from.children(kGroup)) {
    const std::string path = kGroup + "/" + child;
    if (from.is_group(path) || child == "spec_yaml") continue;
    const std::string text = record.text(kGroup, child);
    const bool kept = child == "identity_json" ||
                      ((child == "early_termination" || is_how(child)) && !machine.is_in(text));
    if (!kept && !text.empty()) leave_out(child);
    if (kept || child == "git_diff") file.dataset(path, {}, Texts{kept ? text : ""});
  }
  if (from.exists(kAttempts))
    for (const std::string& column : from.children(kAttempts)) {
      const std::string path = kAttempts + "/" + column;
      if (column == "host" || column == "environment_json")
        file.dataset(path, from.dims(path), Texts(usize(size_of(from.dims(path)))));
      else
        file.copy(from, path);
      if (const Texts texts = texts_in(record, kAttempts, column);
          column == "environment_json" && !std::ranges::all_of(texts, &std::string::empty))
        leave_out("environment");
    }
  if (const Index events = copy_events(file, record, machine); events > 0)
    leave_out(counted(events, "event"));
  made.image = file.image();
  return made;
}

bool is_public_copy(const Record& record) {
  return !record.attribute<std::string>(kGroup, "host") &&
         std::ranges::all_of(texts_in(record, kAttempts, "environment_json"), &std::string::empty);
}

}  // namespace softalign
