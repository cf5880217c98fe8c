#include "framework/record/journal/history.hpp"

#include <algorithm>
#include <iterator>

#include "framework/base/error.hpp"

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
  if (keep == 0) throw DataError("goes back to checkpoint {}, which no journal marks", rewind.file);
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

}  // namespace softalign
