// A training run at a terminal: its progress on standard error (one line that refreshes in place and never
// wraps, plain lines about every ten seconds where there is no terminal), and the wish to stop it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "framework/base/ranks.hpp"
#include "framework/train/observer.hpp"

namespace softalign::app {

// Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 as a wish to stop. The step is finished and the state saved,
// which is said at once. All but SIGUSR1, by which Slurm tells of a time limit minutes ahead, are obeyed
// within ten seconds: a step that lasts longer is abandoned by an exception (base/workers.hpp), and what
// cannot be left, such as a library's call, ends with the process. So it does at a second Ctrl-C.
// Files are then as a kill leaves them: the last checkpoint is kept. A signal that is ignored when
// the program starts, as nohup does, stays ignored.
void catch_interrupts();  // from now on, for the rest of the process; called by the thread that works
bool interrupted();

class ProgressObserver : public Observer {
 public:
  enum class Signals { caught, left };
  // caught: interrupts become stop_requested(). left: they end the program, there is nothing to save. results: the
  // folder that page_hint names, once, to a person who waits; empty: no hint.
  explicit ProgressObserver(Signals signals = Signals::caught, std::string results = "");
  ~ProgressObserver() override { clear(); }
  ProgressObserver(const ProgressObserver&) = delete;
  ProgressObserver& operator=(const ProgressObserver&) = delete;

  void message(std::string_view text) override;
  void stage(std::string_view what, Index done, Index total) override;
  // More lines of a text of unknown length are done. Drawn on a terminal alone, once it has taken kSlow, and
  // not between the lines of results on standard output.
  void lines(std::string_view what, Index more);
  void update(const TrainingProgress& progress) override;
  void dev(const TrainingProgress& progress, const MetricTable& table, bool best) override;
  bool stop_requested() override;
  void clear();  // takes the line away, before something is printed below it

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kSlow{1};

  bool due();  // whether it is time to draw again
  void draw(const std::string& head, double share, const std::string& tail);

  bool terminal_;
  bool drawn_on_ = false;  // a line stands there that must be cleared
  Clock::time_point drawn_;
  Clock::time_point started_;
  std::string hint_;
  Index first_update_ = -1;
  double tokens_ = 0;
  Index lines_ = 0;
};

// The same for another program: a JSON object a line on standard output, {"event": "dev", "update", "metrics", ..}.
class JsonObserver final : public Observer {
 public:
  JsonObserver() { catch_interrupts(); }
  void message(std::string_view text) override;
  void dev(const TrainingProgress& progress, const MetricTable& table, bool best) override;
  bool stop_requested() override { return interrupted(); }
};

// The ranks of --mpi, nullptr without; then a note if mpirun or srun started several processes.
std::unique_ptr<Ranks> start_ranks(bool mpi);

// What another rank than the first one does: silent, except about a failure of its own, which ends all ranks. Only the
// first one obeys signals.
void follow_silently(Ranks& ranks, const std::function<void(Observer&)>& work);

// How to watch experiments of a folder in a browser; displays print it once what they show has taken kHintAfter.
std::string page_hint(const std::string& results);
inline constexpr std::chrono::seconds kHintAfter{30};

// head, a bar that is `share` full, and tail in at most `columns`: in a narrow line the bar gives
// way first, then the end of the text. No bar for a share below 0.
std::string progress_line(const std::string& head,
                          double share,
                          const std::string& tail,
                          std::size_t columns);

}  // namespace softalign::app
