#include "framework/record/folder/status.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
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

// Returns the claim on the newest attempt; nothing if it is damaged.
std::optional<Owner> known_owner(const RunFolder& run) {
  try {
    return newest_claim(run);
  } catch (const DataError&) {
    return std::nullopt;
  }
}

// Reads the newest journal beyond status.json, which is written every few
// seconds. Returns the state with which the attempt ended, if it did.
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
  } catch (const DataError&) {  // damaged: only status.json is used
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

// Returns the state of a run without an owner, whose record does not have its end.
RunState unfinished_state(const RunFolder& run,
                          const std::optional<Owner>& owner,
                          const std::optional<std::string>& end) {
  if (!owner || !is_there(run.released(owner->attempt))) return RunState::lost;
  // A process that was stopped at once had no time for the journal: the release has its state.
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

RunStatus read_status(const RunFolder& run) {
  try {
    if (is_there(run.status())) return from_stored_text<RunStatus>(read_file(run.status()));
  } catch (const DataError&) {  // damaged: the claims decide
  }
  return {};
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

void write_status(FileSystem& files,
                  const RunFolder& run,
                  const RunStatus& status,
                  const std::function<void()>& last_check) {
  files.write_atomically(run.status(), stored_text(status), [&](const fs::path&) {
    if (last_check) last_check();
  });
}

namespace {

// Path of the file that releases the newest claim of this process; null if there is none.
std::atomic<const std::string*> release_of_newest = nullptr;
static_assert(std::atomic<const std::string*>::is_always_lock_free);
const std::string kTaken;  // its address: a handler ends the process

constexpr std::chrono::seconds kBeat(30), kSilence(600);

// Returns seconds by the clock of the file server; nullopt: unknown.
std::optional<double> changed_at(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return std::nullopt;
  return static_cast<double>(status.st_mtim.tv_sec);
}

// Touches the file; creates it if `flags` have O_CREAT.
std::optional<double> touched_at(const fs::path& path, int flags) {
  const int file = open(path.c_str(), flags | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return std::nullopt;
  const bool touched = futimens(file, nullptr) == 0;
  const std::optional<double> time = touched ? changed_at(file) : std::nullopt;
  close(file);
  return time;
}

bool is_silent(const Owner& owner) {
  const int claim = open(owner.claim.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (claim < 0) return false;
  const std::optional<double> beat = changed_at(claim);
  close(claim);
  // This host's clock only decides when to check: the difference of two files' times decides.
  if (!beat || unix_time() - *beat < kSilence.count()) return false;
  const fs::path now = owner.claim.parent_path() / (".now-" + process_mark());
  const std::optional<double> time = touched_at(now, O_CREAT);
  unlink(now.c_str());
  return time && *time - *beat >= kSilence.count();
}

bool is_on_same_kernel(const Owner& owner, const Owner& self) {
  return !owner.boot_id.empty() && owner.boot_id == self.boot_id;
}

Owner read_claim(const fs::path& path, Index attempt) {
  try {
    Owner owner = from_stored_text<Owner>(read_file(path));
    owner.claim = path;
    if (owner.attempt == attempt) return owner;
  } catch (const DataError&) {
  }
  throw DataError(
      "{}: damaged, so the owner of the run is unknown; move the run's folder away to restart",
      path.string());
}

}  // namespace

Owner Owner::self() {
  Owner o;
  o.host = host_name();
  o.machine_id = first_line("/etc/machine-id");
  o.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  o.pid_namespace = softalign::pid_namespace();
  o.pid = getpid();
  o.pid_start = process_start_time(o.pid);
  o.job = environment_variable("SOFTALIGN_JOB");
  o.time = unix_time();
  return o;
}

std::string Owner::str() const {
  const std::string of_job = job.empty() ? "" : fmt::format(" (job {})", printable(job));
  const std::string claimed = utc_time(time);
  const std::string since = claimed.empty() ? "" : " since " + claimed;
  return fmt::format("process {} on host {}{}{}", pid, printable(host), of_job, since);
}

std::optional<Owner> newest_claim(const RunFolder& run) {
  const std::vector<Index> attempts = run.attempts();
  if (attempts.empty()) return std::nullopt;
  return read_claim(run.claim(attempts.back()), attempts.back());
}

bool is_seen_alive(const Owner& owner) {
  const Owner self = Owner::self();
  return is_on_same_kernel(owner, self) && owner.pid_namespace == self.pid_namespace &&
         !owner.pid_start.empty() && process_start_time(owner.pid) == owner.pid_start;
}

std::string proof_of_death(const Owner& owner) {
  const Owner self = Owner::self();
  const bool same_kernel = is_on_same_kernel(owner, self);
  if (same_kernel && owner.pid_namespace == self.pid_namespace && !owner.pid_start.empty())
    return is_seen_alive(owner) ? "" : fmt::format("{} is gone", owner.str());
  const bool same_machine = owner.host == self.host && !owner.machine_id.empty() &&
                            owner.machine_id == self.machine_id && !owner.boot_id.empty() &&
                            !self.boot_id.empty();
  if (!same_kernel && same_machine)
    return fmt::format("{} is gone: the host was restarted", owner.str());
  if (!owner.job.empty() && owner.job == self.job)
    return fmt::format("{} is gone: its job was started again", owner.str());
  if (is_silent(owner))
    return fmt::format("{} is gone: no sign of life for {} minutes",
                       owner.str(),
                       std::chrono::duration_cast<std::chrono::minutes>(kSilence).count());
  return {};
}

// A thread that touches the claim; it blocks all signals.
class Claim::Heartbeat {
 public:
  explicit Heartbeat(const fs::path& claim) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this, claim] {
      std::unique_lock lock(mutex_);
      while (!over_.wait_for(lock, kBeat, [this] { return ends_; })) touched_at(claim, 0);
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Heartbeat() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    over_.notify_all();
    thread_.join();
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool ends_ = false;
  std::thread thread_;
};

Claim::Claim(FileSystem& files, const RunFolder& run, bool steal, const LivenessCheck& proof)
    : files_(files), run_(run) {
  for (;;) {
    // Journals are listed before claims, so that a journal that appears in between belongs to a known claim.
    const std::vector<Index> journals = run.journals();
    const std::optional<Owner> before = newest_claim(run);
    if (before && !is_there(run.released(before->attempt))) {
      reason_ = proof(*before);
      if (reason_.empty() && !steal) {
        throw RunInUse(
            "{}: {} works on this run; wait for it or, if it is certainly dead, take over with "
            "--steal",
            run.root.string(),
            before->str());
      }
      if (reason_.empty()) reason_ = fmt::format("taken from {} by force", before->str());
    }
    Owner self = Owner::self();
    // The number of a journal whose claim was removed is not reused.
    attempt_ = self.attempt =
        1 + std::max(before ? before->attempt : 0, journals.empty() ? 0 : journals.back());
    files.make_folders(run.attempt(attempt_));
    if (files.create_once(run.claim(attempt_), stored_text(self))) break;
  }
  released_ = run.released(attempt_).string();
  release_of_newest = &released_;
  heartbeat_ = std::make_unique<Heartbeat>(run.claim(attempt_));
}

void Claim::check() const {
  if (access(run_.claim(attempt_ + 1).c_str(), F_OK) == 0)
    throw RunInUse("{}: another process has taken this run over", run_.root.string());
}

Claim::~Claim() {
  const std::string* newest = &released_;
  if (!release_of_newest.compare_exchange_strong(newest, nullptr))
    while (newest == &kTaken) pause();
  try {
    files_.create_once(released_, utc_time(unix_time()) + "\n");
  } catch (const std::exception&) {
    // The disk is full or gone. The claim then ends with this process, whose death can be proved.
  }
}

void release_claim_at_once() {
  const std::string* file = release_of_newest.exchange(&kTaken);
  if (file == nullptr || file == &kTaken) return;
  const int released = open(file->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (released < 0) return;
  const std::string_view word = to_string(RunState::interrupted);
  [[maybe_unused]] const auto written = write(released, word.data(), word.size());
  close(released);
}

}  // namespace softalign
