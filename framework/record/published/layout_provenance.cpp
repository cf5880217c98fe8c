#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/process.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/layout.hpp"

namespace softalign {
namespace {

using Json = JsonObject;

std::string text_of(const std::filesystem::path& file) {
  return is_there(file) ? read_file(file) : "";
}

// Single values become attributes of the group; the whole is kept beside them as text.
Json flat(const std::string& environment) {
  Json attributes = Json::object();
  if (!is_environment(environment)) return attributes;
  const Json json = read_json<Json>(environment);
  for (const auto& [name, value] : json.items())
    if (value.is_primitive() && !value.is_null()) attributes[name] = value;
  return attributes;
}

void write_attempts(Hdf5Writer& file, const RunFolder& run, const History& history) {
  std::vector<std::int32_t> numbers;
  std::vector<Index> updates;
  std::vector<std::string> started, ended, states, hosts, environments;
  for (const Attempt& a : history.attempts) {
    const std::string environment = text_of(run.environment(a.header.attempt));
    numbers.push_back(static_cast<std::int32_t>(a.header.attempt));
    updates.push_back(a.last_update);
    started.push_back(utc_time(a.header.started));
    ended.push_back(utc_time(a.ended));
    states.push_back(a.state);
    hosts.push_back(flat(environment).value("host", ""));
    environments.push_back(environment);
  }
  const std::vector<Dimension> dims{{"attempt", static_cast<Index>(numbers.size())}};
  const std::string group = "provenance/attempts/";
  file.dataset(group + "attempt", dims, numbers);
  file.dataset(group + "started", dims, started);
  file.dataset(group + "ended", dims, ended);
  file.dataset(group + "state", dims, states);
  file.dataset(group + "host", dims, hosts);
  file.dataset(group + "last_update", dims, updates);
  file.dataset(group + "environment_json", dims, environments);
}

void write_events(Hdf5Writer& file, const History& history) {
  if (history.events.empty()) return;
  std::vector<std::int32_t> attempts;
  std::vector<std::string> times, texts;
  for (const auto& [attempt, event] : history.events) {
    attempts.push_back(static_cast<std::int32_t>(attempt));
    times.push_back(utc_time(event.time));
    texts.push_back(event.text);
  }
  const std::vector<Dimension> dims{{"event", static_cast<Index>(texts.size())}};
  file.dataset("provenance/events/attempt", dims, attempts);
  file.dataset("provenance/events/time", dims, times);
  file.dataset("provenance/events/text", dims, texts);
}

}  // namespace

void write_provenance(Hdf5Writer& file, const RunFolder& run, const History& history) {
  const std::string spec = text_of(run.spec());
  const Index newest = history.attempts.empty() ? 0 : history.attempts.back().header.attempt;
  Json attributes = flat(text_of(run.environment(newest)));
  attributes["spec_sha256"] = sha256_hex(spec);
  file.attributes("provenance", attributes);
  file.dataset("provenance/spec_yaml", {}, std::vector{spec});
  file.dataset("provenance/identity_json", {}, std::vector{text_of(run.identity())});
  file.dataset("provenance/git_diff", {}, std::vector{text_of(run.diff(newest))});
  if (!history.attempts.empty()) write_attempts(file, run, history);
  write_events(file, history);
}

}  // namespace softalign
