// A run's journals, read together: its valid frames, those that a resumption superseded, and whether it computed
// the same bits again. Reads only; does not truncate or repair.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/record/file.hpp"
#include "framework/record/journal/checkpoint.hpp"
#include "framework/record/journal/frames.hpp"
#include "framework/record/journal/journal.hpp"

namespace softalign {

struct Attempt {
  JournalHeader header;
  std::string state;      // from its END frame; empty: it was killed or still runs
  double ended = 0;       // Unix time; 0: unknown
  Index last_update = 0;  // the highest update that it reached
};

struct History {
  std::vector<Frame> live;                      // in order, without events and rewinds
  std::vector<Frame> superseded;                // since the last restart of the run
  std::vector<std::pair<Index, Event>> events;  // of all attempts; events are never superseded
  std::vector<Attempt> attempts;

  std::optional<std::string> end_state() const;  // if the last live frame is END
  Index last_update() const;                     // of the valid frames; 0 if there are none
  double wall_time() const;                      // of the last live SCALARS frame, seconds

  // Applies a Rewind: frames after the checkpoint become superseded. If `file` is empty, the run restarts, and all
  // earlier frames are dropped.
  void rewind(const Rewind& rewind);
};

History read_history(const RunFolder& run);

// Throws DataError, naming the journal, for a history of another run than the folder's.
void check_journals(const History& history, const RunFolder& run, const std::string& run_id);

// A state to start from: the frames that another run recorded up to a checkpoint, and the checkpoint.
struct ResumePoint {
  std::vector<Frame> frames;  // without the checkpoint's mark
  Checkpoint state;
};

// Returns the newest complete checkpoint of a run that `serves` accepts; empty if there is none.
// Throws the errors of read_history and check_journals.
std::optional<ResumePoint> resume_point_of(const RunFolder& run,
                                           const std::string& run_id,
                                           const std::function<bool(const Checkpoint&)>& serves);

// Paths that may differ between two runs of one experiment: /provenance, /timing, /system, wall
// times and rates.
bool is_volatile(std::string_view path);

// The drift check: numbers that a resumed run computes again must have the bits of the interrupted attempt.
class DriftCheck {
 public:
  explicit DriftCheck(const std::vector<Frame>& superseded);
  // Compares a frame with the superseded one, if any.
  void look(const Frame& frame);
  // "train/loss at update 512 is 3.25, an earlier attempt had 3.5"
  const std::optional<std::string>& first_difference() const { return difference_; }

 private:
  std::map<std::string, std::string> expected_;  // bytes by name and update
  std::optional<std::string> difference_;
};

}  // namespace softalign
