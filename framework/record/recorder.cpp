#include "framework/record/recorder.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/publish.hpp"

namespace softalign {
namespace {

constexpr double kSyncSeconds = 5;       // at most lost in a power cut
constexpr double kPublishShare = 0.01;   // of the time spent training
constexpr std::size_t kCheckpoints = 2;  // number of kept checkpoints

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

// Returns the last value of every number that a run recorded.
NamedNumbers last_values(const History& history) {
  NamedNumbers numbers;
  for (const Frame& frame : history.live)
    if (const auto* scalars = std::get_if<Scalars>(&frame))
      for (const auto& [name, value] : scalars->values)
        set(numbers, scalars->series + "/" + name, value);
  return numbers;
}

}  // namespace

Recorder::Recorder(const fs::path& results,
                   const RunIdentity& run,
                   const OpenMode& mode,
                   FileSystem& files)
    : files_(files),
      folder_{results / run.name / run.run_id},
      drift_(std::make_unique<DriftCheck>(std::vector<Frame>{})),
      keep_(mode.keep) {
  files_.make_folders(folder_.root);
  if (!mode.force && end_is_published(folder_)) return;
  const History history = read_history(folder_);
  check_journals(history, folder_, run.run_id);
  if (history.end_state() == to_string(RunState::complete) && !mode.force) {
    check_names_in(folder_);
    remove_temporaries(files_, folder_, false);
    write_setting(run);
    softalign::publish(files_, folder_, history);  // it stopped after its end
    last_update_ = history.last_update();
    notes_.emplace_back("the run was complete; its record is now published");
    RunStatus status;
    status.state = RunState::complete;
    status.attempt = history.attempts.back().header.attempt;
    status.last_update = last_update_;
    status.metrics = last_values(history);
    status.heartbeat = unix_time();
    write_status(files_, folder_, status);
    return;
  }
  open(run, mode);
}

Recorder::~Recorder() {
  if (!journal_) return;
  try {
    end(unannounced_);
  } catch (const std::exception&) {
    // The first error is reported; the journal has the data written so far.
  }
}

void Recorder::open(const RunIdentity& run, const OpenMode& mode) {
  check_names_in(folder_);
  claim_ = std::make_unique<Claim>(files_, folder_, mode.steal, mode.proof);
  if (!claim_->reason().empty()) notes_.push_back(claim_->reason());
  remove_temporaries(files_, folder_, true);
  for (const Index attempt : folder_.journals()) {
    if (const auto cut = cut_torn_end(files_, folder_.journal(attempt), run.run_id); cut > 0)
      notes_.push_back(fmt::format(
          "{} incomplete bytes removed from the end of the journal of attempt {}", cut, attempt));
  }
  write_setting(run);
  const Index attempt = claim_->attempt();
  // Host names and paths may contain invalid UTF-8.
  files_.write_atomically(
      folder_.environment(attempt),
      gather_provenance().dump(2, ' ', false, JsonObject::error_handler_t::replace) + "\n");
  if (build_info().git_dirty) files_.write_atomically(folder_.diff(attempt), build_info().git_diff);

  const History history = resume(mode);
  drift_ = std::make_unique<DriftCheck>(history.superseded);
  last_update_ = history.last_update();
  metrics_ = last_values(history);
  wall_time_before_ = history.wall_time();
  const JournalHeader header{.run_id = run.run_id, .attempt = attempt, .started = unix_time()};
  journal_ = std::make_unique<JournalWriter>(files_, folder_.journal(attempt), header);
  append(Rewind{.update = restored_ ? restored_->update : -1,
                .file = restored_ ? kept_.back().file : ""});
  for (const std::string& note : notes_) event(note);
  if (!restored_ && mode.beginning)
    if (std::optional<ResumePoint> beginning = mode.beginning()) begin_with(std::move(*beginning));
  sync();
  status(RunState::running);
}

// A run that is killed before the mark is written restarts.
void Recorder::begin_with(ResumePoint beginning) {
  History history;
  history.live = std::move(beginning.frames);
  for (const Frame& frame : history.live)
    if (!std::holds_alternative<CheckpointMark>(frame)) append(frame);
  last_update_ = beginning.state.update;
  metrics_ = last_values(history);
  wall_time_before_ = history.wall_time();
  keep_checkpoint(beginning.state.update, beginning.state.blobs, 0);
  restored_ = std::move(beginning.state);
}

// Writes the spec of the newest attempt, which may have other notes and paths than the first.
void Recorder::write_setting(const RunIdentity& run) {
  const auto put = [&](const fs::path& path, const std::string& text) {
    const bool there = is_there(path);
    if (there && read_file(path) == text) return;
    if (there && path == folder_.identity())
      notes_.emplace_back("identity.json was damaged: rewritten");
    files_.write_atomically(path, text);
  };
  put(folder_.spec(), run.spec_yaml);
  put(folder_.identity(), run.identity_json);
}

// Rewinds the run to its newest complete checkpoint.
History Recorder::resume(const OpenMode& mode) {
  History history = read_history(folder_);
  std::vector<CheckpointMark> marks;
  for (const Frame& frame : history.live)
    if (const auto* mark = std::get_if<CheckpointMark>(&frame)) marks.push_back(*mark);
  std::vector<std::string> lost;
  while (!mode.force && !marks.empty()) {
    if (auto blobs = load_checkpoint(folder_.checkpoints(), marks.back())) {
      restored_ = Checkpoint{.update = marks.back().update, .blobs = std::move(*blobs)};
      break;
    }
    lost.push_back(marks.back().file);
    marks.pop_back();
  }
  if (lost.size() == 1)
    notes_.push_back(fmt::format("checkpoint {} is damaged or missing: not used", lost.front()));
  else if (lost.size() > 1)
    notes_.push_back(
        fmt::format("{} checkpoints are damaged or missing: not used; the newest is {}",
                    lost.size(),
                    lost.front()));
  if (restored_) kept_ = std::move(marks);
  history.rewind({.file = restored_ ? kept_.back().file : ""});
  return history;
}

void Recorder::append(const Frame& frame) {
  if (!journal_) throw BugError("{}: the record is closed", folder_.root.string());
  if (const std::string fault = fault_of(frame); !fault.empty()) throw BugError("{}", fault);
  journal_->append(frame);
  drift_->look(frame);
  if (drift() && !drift_told_) {
    drift_told_ = true;
    event("drift after resumption: " + *drift());
  }
  if (seconds(Clock::now() - synced_) < kSyncSeconds) return;
  sync();
  status(RunState::running);
}

void Recorder::sync() {
  claim_->check();
  journal_->sync();
  synced_ = Clock::now();
}

void Recorder::status(RunState state) {
  RunStatus now;
  now.state = state;
  now.attempt = claim_->attempt();
  now.last_update = last_update_;
  now.updates = updates_;
  now.metrics = metrics_;
  now.heartbeat = unix_time();
  write_status(files_, folder_, now, [this] { claim_->check(); });
}

double Recorder::elapsed() const { return seconds(Clock::now() - opened_); }

void Recorder::scalars(const std::string& series, Index update, const NamedNumbers& values) {
  last_update_ = std::max(last_update_, update);
  for (const auto& [name, value] : values) set(metrics_, series + "/" + name, value);
  append(Scalars{series, update, wall_time_before_ + elapsed(), values});
}

void Recorder::alignment(const Alignment& a) { append(a); }

void Recorder::array(const std::string& group,
                     const std::string& name,
                     const std::vector<Dimension>& dims,
                     Values values) {
  append(Array{group, name, last_update_, dims, std::move(values)});
}

void Recorder::array(const std::string& group,
                     const std::string& name,
                     const std::vector<Dimension>& dims,
                     Values values,
                     const JsonObject& attributes) {
  append(Array{group, name, last_update_, dims, std::move(values), attributes.dump()});
}

void Recorder::row(Index update,
                   const std::string& group,
                   const std::string& name,
                   std::vector<Dimension> dims,
                   std::vector<double> values,
                   const JsonObject& attributes) {
  dims.insert(dims.begin(), {"update", 1});
  append(Array{group, name, update, std::move(dims), std::move(values), attributes.dump()});
}

void Recorder::text(const std::string& group, const std::string& name, const std::string& value) {
  if (is_text(value)) return array(group, name, {}, std::vector{value});
  const std::vector<std::uint8_t> bytes(value.begin(), value.end());
  array(group, name, {{name + "_byte", static_cast<Index>(bytes.size())}}, bytes);
}

void Recorder::parameter(const std::string& name,
                         const std::vector<Index>& shape,
                         std::span<const float> values) {
  std::vector<Dimension> dims;  // named by index and size, so that parameters may share them
  for (std::size_t i = 0; i < shape.size(); ++i)
    dims.push_back({fmt::format("axis{}_{}", i, shape[i]), shape[i]});
  array("parameters", name, dims, std::vector<float>(values.begin(), values.end()));
}

void Recorder::attributes(const std::string& path, const JsonObject& members) {
  append(Attributes{path, members.dump()});
}

void Recorder::expect(Index updates) {
  if (updates == updates_) return;
  updates_ = updates;
  status(RunState::running);
}

void Recorder::event(const std::string& text) { append(Event{unix_time(), text}); }

void Recorder::checkpoint(Index update, const Blobs& blobs, Index best) {
  last_update_ = std::max(last_update_, update);
  keep_checkpoint(update, blobs, best);
  if (publishing_ <= kPublishShare * seconds(Clock::now() - published_)) publish();
}

void Recorder::keep_checkpoint(Index update, const Blobs& blobs, Index best) {
  sync();
  const CheckpointMark mark = save_checkpoint(files_, folder_.checkpoints(), update, blobs);
  append(mark);
  sync();
  std::erase_if(kept_, [&](const CheckpointMark& m) { return m.file == mark.file; });
  kept_.push_back(mark);
  if (keep_ != KeptCheckpoints::all && kept_.size() > kCheckpoints)
    kept_.erase(std::remove_if(kept_.begin(),
                               kept_.end() - static_cast<std::ptrdiff_t>(kCheckpoints),
                               [&](const CheckpointMark& m) {
                                 return keep_ != KeptCheckpoints::best || m.update != best;
                               }),
                kept_.end() - static_cast<std::ptrdiff_t>(kCheckpoints));
  remove_other_checkpoints(files_, folder_.checkpoints(), kept_);
}

void Recorder::publish() {
  sync();
  const Clock::time_point start = Clock::now();
  softalign::publish(files_, folder_, read_history(folder_), [this] { claim_->check(); });
  published_ = Clock::now();
  publishing_ = seconds(published_ - start);
  status(RunState::running);
}

// Writes a frame of its own, because the disk may be full when the test ends.
void Recorder::trained() {
  unannounced_ = RunState::trained;
  append(End{unix_time(), std::string(to_string(unannounced_))});
  sync();
}

void Recorder::end(RunState state) {
  append(End{unix_time(), std::string(to_string(state))});
  sync();
  journal_.reset();
  softalign::publish(files_, folder_, read_history(folder_), [this] { claim_->check(); });
  if (state == RunState::complete && keep_ == KeptCheckpoints::none)
    remove_other_checkpoints(files_, folder_.checkpoints(), {});
  status(state);
  claim_.reset();
}

}  // namespace softalign
