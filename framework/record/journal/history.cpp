#include "framework/record/journal/history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

Index update_of(const Frame& frame) {
  if (const auto* s = std::get_if<Scalars>(&frame)) return s->update;
  if (const auto* c = std::get_if<CheckpointMark>(&frame)) return c->update;
  return 0;
}

}  // namespace

std::optional<std::string> History::end_state() const {
  if (live.empty()) return std::nullopt;
  const auto* end = std::get_if<End>(&live.back());
  return end ? std::optional(end->state) : std::nullopt;
}

Index History::last_update() const {
  Index last = 0;
  for (const Frame& frame : live) last = std::max(last, update_of(frame));
  return last;
}

double History::wall_time() const {
  for (auto frame = live.rbegin(); frame != live.rend(); ++frame)
    if (const auto* s = std::get_if<Scalars>(&*frame)) return s->wall_time;
  return 0;
}

void History::rewind(const Rewind& rewind) {
  if (rewind.file.empty()) {
    live.clear();
    superseded.clear();
    return;
  }
  std::size_t keep = live.size();
  for (; keep > 0; --keep) {
    const auto* mark = std::get_if<CheckpointMark>(&live[keep - 1]);
    if (mark && mark->file == rewind.file) break;
  }
  if (keep == 0) throw DataError("resumes from checkpoint {}, which is in no journal", rewind.file);
  const auto cut = live.begin() + static_cast<std::ptrdiff_t>(keep);
  std::move(cut, live.end(), std::back_inserter(superseded));
  live.erase(cut, live.end());
}

History read_history(const RunFolder& run) {
  History history;
  for (const Index number : run.journals()) {
    JournalTail journal(run.journal(number));
    std::vector<Frame> frames = journal.next();
    if (!journal.header()) continue;
    const auto impossible = [&](const std::string& reason) {
      return DataError("{}: {}; move it away and run the spec again with --force",
                       run.journal(number).string(),
                       reason);
    };
    if (journal.header()->attempt != number)
      throw impossible(fmt::format("is the journal of attempt {}", journal.header()->attempt));
    Attempt attempt;
    attempt.header = *journal.header();
    for (Frame& frame : frames) {
      attempt.last_update = std::max(attempt.last_update, update_of(frame));
      if (const auto* rewind = std::get_if<Rewind>(&frame)) {
        try {
          history.rewind(*rewind);
        } catch (const DataError& error) {
          throw impossible(error.what());
        }
      } else if (auto* event = std::get_if<Event>(&frame)) {
        history.events.emplace_back(attempt.header.attempt, std::move(*event));
      } else {
        if (const auto* end = std::get_if<End>(&frame)) {
          attempt.state = end->state;
          attempt.ended = end->time;
        }
        history.live.push_back(std::move(frame));
      }
    }
    history.attempts.push_back(std::move(attempt));
  }
  return history;
}

void check_journals(const History& history, const RunFolder& run, const std::string& run_id) {
  for (const Attempt& a : history.attempts)
    if (a.header.run_id != run_id)
      throw DataError("{}: journal of another run, {}: move it away",
                      run.journal(a.header.attempt).string(),
                      a.header.run_id);
}

std::optional<ResumePoint> resume_point_of(const RunFolder& run,
                                           const std::string& run_id,
                                           const std::function<bool(const Checkpoint&)>& serves) {
  History history = read_history(run);
  check_journals(history, run, run_id);
  for (std::size_t i = history.live.size(); i-- > 0;) {
    const auto* mark = std::get_if<CheckpointMark>(&history.live[i]);
    if (!mark) continue;
    std::optional<Blobs> blobs = load_checkpoint(run.checkpoints(), *mark);
    if (!blobs) continue;
    Checkpoint state{mark->update, std::move(*blobs)};
    if (!serves(state)) continue;
    history.live.resize(i);
    return ResumePoint{std::move(history.live), std::move(state)};
  }
  return std::nullopt;
}

namespace {

// Returns the parts of a frame that do not depend on the clock: their bytes with name and update.
std::vector<std::pair<std::string, std::string>> facts(const Frame& frame) {
  std::vector<std::pair<std::string, std::string>> list;
  const auto add = [&](const std::string& path, Index update, std::string bytes) {
    if (!is_volatile(path))
      list.emplace_back(fmt::format("{} at update {}", path, update), std::move(bytes));
  };
  if (const auto* s = std::get_if<Scalars>(&frame)) {
    for (const auto& [name, value] : s->values) {
      ByteWriter bytes;
      bytes.number(std::isnan(value) ? kUndefined : value);
      add(s->series + "/" + name, s->update, bytes.bytes());
    }
  } else if (const auto* a = std::get_if<Alignment>(&frame)) {
    const auto path =
        fmt::format("alignments/{} of sentence {} head {}", a->module, a->sentence, a->head);
    add(path, a->update, encode(frame));
  } else if (const auto* array = std::get_if<Array>(&frame)) {
    Array numbers = *array;
    numbers.attributes = "{}";  // their description
    add(array->group + "/" + array->name, array->update, encode(numbers));
  }
  return list;
}

std::string value_text(const std::string& bytes) {
  if (bytes.size() != sizeof(double)) return "another value";
  double value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return fmt::format("{}", value);
}

}  // namespace

bool is_volatile(std::string_view path) {
  static constexpr std::array<std::string_view, 3> kGroups{"provenance", "timing", "system"};
  static constexpr std::array<std::string_view, 5> kNames{
      "wall_time", "seconds", "@created", "@framework_version", "@name"};
  const std::string_view top = path.substr(0, path.find_first_of("/@"));
  const std::string_view name = path.substr(path.find_last_of("/@") + 1);
  const auto is_named = [&](std::string_view volatile_name) {
    return volatile_name.starts_with('@') ? path == volatile_name : name == volatile_name;
  };
  return std::find(kGroups.begin(), kGroups.end(), top) != kGroups.end() ||
         std::any_of(kNames.begin(), kNames.end(), is_named) || name.ends_with("_per_s") ||
         name.ends_with("_seconds");
}

DriftCheck::DriftCheck(const std::vector<Frame>& superseded) {
  for (const Frame& frame : superseded)
    for (auto& [what, bytes] : facts(frame)) expected_[what] = std::move(bytes);
}

void DriftCheck::look(const Frame& frame) {
  if (expected_.empty() || difference_) return;
  for (const auto& [what, bytes] : facts(frame)) {
    const auto before = expected_.find(what);
    if (before == expected_.end() || before->second == bytes) continue;
    difference_ = fmt::format(
        "{} is {}, an earlier attempt had {}", what, value_text(bytes), value_text(before->second));
    return;
  }
}

}  // namespace softalign
