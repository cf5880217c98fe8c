// The record of a run, written by the trainer from opening (a fresh start or a resumption) to its
// end. Every number is written to the journal at once; run.h5 is published from it.
//
//   Recorder record(results, {name, run_id, spec_yaml, identity_json});
//   if (record.already_complete()) return;
//   if (record.restored()) trainer.load(record.restored()->blobs);
//   ... record.scalars("train", update, {{"loss", loss}});
//   ... record.checkpoint(update, trainer.save());
//   record.end(RunState::complete);
//
// For one thread. All functions throw MachineError if the disk fails; run.h5 is then unchanged.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/record/file.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/journal/checkpoint.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/record/journal/journal.hpp"

namespace softalign {

struct RunIdentity {
  std::string name;
  std::string run_id;
  std::string spec_yaml;      // resolved, for readers
  std::string identity_json;  // the hashed content of the run ID
};

// The checkpoints that a complete run keeps; until then it always has two to resume from.
enum class KeptCheckpoints { none, last, best, all };

struct OpenMode {
  bool force = false;  // restart even a complete run
  bool steal = false;  // take over from an owner who may be alive
  LivenessCheck proof = proof_of_death;
  KeptCheckpoints keep = KeptCheckpoints::last;
  // Called if the run has no checkpoint to resume from. Returns nothing for a fresh start.
  std::function<std::optional<ResumePoint>()> beginning = {};
};

class Recorder {
 public:
  // Opens results/<name>/<run id>. Throws MachineError if another process works on the run,
  // DataError if its files are foreign or newer than this program.
  Recorder(const std::filesystem::path& results,
           const RunIdentity& run,
           const OpenMode& mode = {},
           FileSystem& files = FileSystem::real());
  // Without end(), the run is `failed`, or `trained` after trained().
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool already_complete() const { return !journal_; }  // then nothing may be recorded
  // The checkpoint that the run resumes from; empty for a fresh start.
  const std::optional<Checkpoint>& restored() const { return restored_; }
  // Messages about the opening: a take-over, a truncated journal, a lost checkpoint.
  const std::vector<std::string>& notes() const { return notes_; }
  // The first value that a resumed run computed with other bits; also an event in the record.
  const std::optional<std::string>& drift() const { return drift_->first_difference(); }
  const RunFolder& folder() const { return folder_; }

  // Records a row of /<series>, or a part of it, at an update.
  void scalars(const std::string& series, Index update, const NamedNumbers& values);
  void alignment(const Alignment& alignment);
  // Records a result, published as /<group>/<name>.
  void array(const std::string& group,
             const std::string& name,
             const std::vector<Dimension>& dims,
             Values values);
  void array(const std::string& group,
             const std::string& name,
             const std::vector<Dimension>& dims,
             Values values,
             const JsonObject& attributes);
  // Records a row of such an array, at an update.
  void row(Index update,
           const std::string& group,
           const std::string& name,
           std::vector<Dimension> dims,
           std::vector<double> values,
           const JsonObject& attributes);
  // Records a text of any length, published as a dataset, also with invalid UTF-8.
  void text(const std::string& group, const std::string& name, const std::string& value);
  // Records a final parameter, published as /parameters/<name> with its shape.
  void parameter(const std::string& name,
                 const std::vector<Index>& shape,
                 std::span<const float> values);
  void attributes(const std::string& path, const JsonObject& members);
  void event(const std::string& text);
  // Sets the number of updates without early stopping, for status.json.
  void expect(Index updates);

  // Saves the trainer's state, which is on disk and valid when this returns. Also publishes the
  // record if that is cheap. Keeps the newest two checkpoints and, if KeptCheckpoints wants it, that of
  // update `best`.
  void checkpoint(Index update, const Blobs& blobs, Index best = 0);
  void publish();
  // Records that all updates are finished and their state is saved: the run is then `trained` even if
  // its test fails.
  void trained();
  // The last call: publishes the record with its end (complete, pruned, interrupted, trained or failed).
  void end(RunState state);

 private:
  void open(const RunIdentity& run, const OpenMode& mode);
  void write_setting(const RunIdentity& run);
  History resume(const OpenMode& mode);
  void begin_with(ResumePoint beginning);
  void append(const Frame& frame);
  void keep_checkpoint(Index update, const Blobs& blobs, Index best);
  void sync();
  void status(RunState state);
  double elapsed() const;  // seconds since opening

  using Clock = std::chrono::steady_clock;
  FileSystem& files_;
  RunFolder folder_;
  std::unique_ptr<Claim> claim_;
  std::unique_ptr<JournalWriter> journal_;  // null if already complete or ended
  std::unique_ptr<DriftCheck> drift_;
  std::optional<Checkpoint> restored_;
  std::vector<CheckpointMark> kept_;
  KeptCheckpoints keep_;
  std::vector<std::string> notes_;
  NamedNumbers metrics_;
  Index last_update_ = 0;
  Index updates_ = 0;
  double wall_time_before_ = 0;
  bool drift_told_ = false;
  RunState unannounced_ = RunState::failed;  // the state of the run if no end is recorded
  double publishing_ = 0;                    // seconds the last publication took
  Clock::time_point opened_ = Clock::now();
  Clock::time_point synced_ = opened_;
  Clock::time_point published_ = opened_;
};

}  // namespace softalign
