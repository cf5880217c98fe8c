#include "framework/record/folder/status.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/claim.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/journal.hpp"

namespace softalign {
namespace {

constexpr RunState kStates[] = {RunState::planned,
                                RunState::claimed,
                                RunState::running,
                                RunState::interrupted,
                                RunState::trained,
                                RunState::complete,
                                RunState::pruned,
                                RunState::failed,
                                RunState::lost,
                                RunState::corrupt,
                                RunState::unreadable};

RunStatus read_status(const RunFolder& run) {
  try {
    if (is_there(run.status())) return from_stored_text<RunStatus>(read_file(run.status()));
  } catch (
      const DataError&) {  // by another program or a damaged disk: the claims still tell the state
  }
  return {};
}

// The claim on the newest attempt; none where it is damaged.
std::optional<Owner> known_owner(const RunFolder& run) {
  try {
    return newest_claim(run);
  } catch (const DataError&) {
    return std::nullopt;
  }
}

// What the newest journal knows that was not yet in status.json, which is written every few
// seconds. Returns how the attempt ended, if it did.
std::optional<std::string> read_on(const RunFolder& run, RunStatus& status) {
  const std::vector<Index> journals = run.journals();
  if (journals.empty() || journals.back() < status.attempt) return std::nullopt;
  std::optional<std::string> end;
  try {
    for (const Frame& frame : JournalTail(run.journal(journals.back())).next()) {
      if (const auto* ended = std::get_if<End>(&frame)) end = ended->state;
      const auto* scalars = std::get_if<Scalars>(&frame);
      if (!scalars) continue;
      status.last_update = std::max(status.last_update, scalars->update);
      for (const auto& [name, value] : scalars->values)
        set(status.metrics, scalars->series + "/" + name, value);
    }
  } catch (const DataError&) {  // damaged: status.json is all there is
  }
  return end;
}

std::optional<RunState> published_end_if_whole(const RunFolder& run) {
  try {
    return published_end(run);
  } catch (const DataError&) {
    return std::nullopt;
  }
}

// How a run stands on which nobody works, and whose record is not that of its end.
RunState unfinished_state(const RunFolder& run,
                          const std::optional<Owner>& owner,
                          const std::optional<std::string>& end) {
  if (!owner || !is_there(run.released(owner->attempt))) return RunState::lost;
  // A process that was stopped at once had no time for the journal: its word is in the release.
  const auto word = run_state(read_file(run.released(owner->attempt), 4096));
  if (word) return *word;
  const RunState state = run_state(end.value_or("")).value_or(RunState::failed);
  return is_over(state) ? RunState::failed : state;
}

}  // namespace

void set(NamedNumbers& numbers, const std::string& name, double value) {
  const auto known = std::find_if(
      numbers.begin(), numbers.end(), [&](const auto& number) { return number.first == name; });
  if (known == numbers.end())
    numbers.emplace_back(name, value);
  else
    known->second = value;
}

std::string_view to_string(RunState state) {
  constexpr std::array<std::string_view, std::size(kStates)> names = {"planned",
                                                                      "claimed",
                                                                      "running",
                                                                      "interrupted",
                                                                      "trained",
                                                                      "complete",
                                                                      "pruned",
                                                                      "failed",
                                                                      "lost",
                                                                      "corrupt",
                                                                      "unreadable"};
  return names.at(static_cast<std::size_t>(state));
}

std::span<const RunState> run_states() { return kStates; }

std::optional<RunState> run_state(std::string_view name) {
  for (const RunState state : kStates)
    if (name == to_string(state)) return state;
  return std::nullopt;
}

bool from_string(std::string_view name, RunState& state) {
  const std::optional<RunState> named = run_state(name);
  if (named) state = *named;
  return named.has_value();
}

RunStatus run_status(const RunFolder& run, const LivenessCheck& proof) {
  RunStatus status = read_status(run);
  const std::optional<Owner> owner = known_owner(run);
  bool known = !is_worked_on(status.state) && status.state != RunState::planned &&
               (!is_over(status.state) || is_there(run.record()));
  if (owner) {
    status.owner = owner->str();
    known = known && status.attempt == owner->attempt;
    status.attempt = owner->attempt;
  }
  if (known) return status;
  const std::optional<std::string> end = read_on(run, status);
  if (owner && !is_there(run.released(owner->attempt)) && proof(*owner).empty())
    status.state = is_there(run.journal(owner->attempt)) ? RunState::running : RunState::claimed;
  else if (const auto published = published_end_if_whole(run))
    status.state = *published;
  else if (owner || !run.journals().empty())
    status.state = unfinished_state(run, owner, end);
  else
    return {};
  return status;
}

std::optional<RunState> published_end(const RunFolder& run) {
  if (!is_there(run.record())) return std::nullopt;
  const Hdf5Reader record(run.record());
  const auto state = run_state(record.attribute<std::string>("", "state").value_or(""));
  const std::vector<Index> journals = run.journals();
  if (!state || !is_over(*state)) return std::nullopt;
  if (journals.empty()) return state;
  const Values attempts = record.read("provenance/attempts/attempt");
  const auto* numbers = std::get_if<std::vector<std::int32_t>>(&attempts);
  const bool newest = numbers && !numbers->empty() && numbers->back() >= journals.back();
  return newest ? state : std::nullopt;
}

void write_status(FileSystem& files, const RunFolder& run, const RunStatus& status) {
  files.write_atomically(run.status(), stored_text(status));
}

}  // namespace softalign
