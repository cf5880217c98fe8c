#include "framework/record/status.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "framework/base/error.hpp"
#include "framework/record/claim.hpp"
#include "framework/record/machine.hpp"

namespace softalign {
namespace {

using Json = nlohmann::ordered_json;

constexpr RunState kStates[] = {RunState::absent,
                                RunState::running,
                                RunState::interrupted,
                                RunState::complete,
                                RunState::failed,
                                RunState::lost};

RunStatus read_status(const RunFolder& run) {
  RunStatus status;
  if (!std::filesystem::exists(run.status())) return status;
  try {
    const Json json = Json::parse(read_file(run.status()));
    for (const RunState state : kStates)
      if (json.at("state").get<std::string>() == to_string(state)) status.state = state;
    json.at("attempt").get_to(status.attempt);
    json.at("last_update").get_to(status.last_update);
    json.at("heartbeat").get_to(status.heartbeat);
    for (const auto& [name, value] : json.at("metrics").items())
      status.metrics.emplace_back(name, value.is_null() ? std::nan("") : value.get<double>());
  } catch (const std::exception&) {
    return {};  // by another program or a damaged disk: the claims still tell the state
  }
  return status;
}

}  // namespace

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::absent:
      return "absent";
    case RunState::running:
      return "running";
    case RunState::interrupted:
      return "interrupted";
    case RunState::complete:
      return "complete";
    case RunState::failed:
      return "failed";
    case RunState::lost:
      return "lost";
  }
  return "absent";
}

RunStatus run_status(const RunFolder& run) {
  RunStatus status = read_status(run);
  std::optional<Owner> owner;
  try {
    owner = newest_claim(run);
  } catch (const DataError&) {
    return {};
  }
  if (!owner) return {};
  status.owner = owner->str();
  const bool said = status.attempt == owner->attempt && status.state != RunState::running;
  status.attempt = owner->attempt;
  if (said) return status;
  if (std::filesystem::exists(run.released(owner->attempt))) {
    status.state = RunState::failed;
  } else {
    status.state = proof_of_death(*owner).empty() ? RunState::running : RunState::lost;
  }
  return status;
}

void write_status(FileSystem& files, const RunFolder& run, const RunStatus& status) {
  Json metrics = Json::object();
  for (const auto& [name, value] : status.metrics) metrics[name] = value;
  const Json json = {{"state", to_string(status.state)},
                     {"attempt", status.attempt},
                     {"last_update", status.last_update},
                     {"metrics", metrics},
                     {"heartbeat", status.heartbeat},
                     {"heartbeat_utc", utc_time(status.heartbeat)}};
  files.write_atomically(run.status(), json.dump(2) + "\n");
}

}  // namespace softalign
