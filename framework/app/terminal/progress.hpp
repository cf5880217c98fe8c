// Displays the progress of a training run on standard error (on a terminal one line that refreshes in place and
// never wraps, otherwise plain lines about every ten seconds), and receives requests to stop it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "framework/base/ranks.hpp"
#include "framework/train/observer.hpp"

namespace softalign::app {

// Makes Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 requests to stop: the step is finished and the state saved, and a message
// says so at once. All but SIGUSR1, which Slurm sends minutes before a time limit, take effect within ten seconds: a
// longer step is abandoned by an exception (base/workers.hpp), and if that is impossible, as within a call of a
// library, the process ends, as it does at a second Ctrl-C. The files are then as after a kill: the last checkpoint
// is kept. A signal that is ignored when the program starts (nohup) stays ignored.
void catch_interrupts();  // for the rest of the process; called by the working thread
bool interrupted();

class ProgressObserver : public Observer {
 public:
  enum class Signals { caught, left };
  // caught: stop_requested() reports interrupts. left: they end the program, because there is nothing to save. results:
  // the folder for page_hint, which is printed once on a terminal after kHintAfter; empty: no hint.
  explicit ProgressObserver(Signals signals = Signals::caught, std::string results = "");
  ~ProgressObserver() override { clear(); }
  ProgressObserver(const ProgressObserver&) = delete;
  ProgressObserver& operator=(const ProgressObserver&) = delete;

  void message(std::string_view text) override;
  void stage(std::string_view what, Index done, Index total) override;
  // Counts `more` finished lines of a text of unknown length. Drawn only on a terminal, after kSlow, and only if
  // standard output is not a terminal, so as not to mix with the results.
  void lines(std::string_view what, Index more);
  void update(const TrainingProgress& progress) override;
  void dev(const TrainingProgress& progress, const MetricTable& table, bool best) override;
  bool stop_requested() override;
  void clear();  // removes the line before other output

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kSlow{1};

  bool due();  // returns whether it is time to draw again, and if so restarts the interval
  void draw(const std::string& head, double share, const std::string& tail);

  bool terminal_;
  bool drawn_on_ = false;  // a drawn line must be cleared
  Clock::time_point drawn_;
  Clock::time_point started_;
  std::string hint_;
  Index first_update_ = -1;
  double tokens_ = 0;
  Index lines_ = 0;
};

// Reports to another program: one JSON object per line on standard output, {"event": "dev", "update", "metrics", ..}.
class JsonObserver final : public Observer {
 public:
  JsonObserver() { catch_interrupts(); }
  void message(std::string_view text) override;
  void dev(const TrainingProgress& progress, const MetricTable& table, bool best) override;
  bool stop_requested() override { return interrupted(); }
};

// Returns the ranks with --mpi; without it nullptr, after a note if mpirun or srun started several processes.
std::unique_ptr<Ranks> start_ranks(bool mpi);

// Does the work of a rank other than the first: prints only its own failure, which ends all ranks, and ignores
// signals, which only the first rank obeys.
void follow_silently(Ranks& ranks, const std::function<void(Observer&)>& work);

// Returns a hint how to watch the experiments of a folder in a browser; displays print it after kHintAfter.
std::string page_hint(const std::string& results);
inline constexpr std::chrono::seconds kHintAfter{30};

// Returns head, a bar that is `share` full, and tail in at most `columns`. In a narrow line the bar is shortened and
// dropped first, then the end of the text is cut. A share below 0 has no bar.
std::string progress_line(const std::string& head,
                          double share,
                          const std::string& tail,
                          std::size_t columns);

}  // namespace softalign::app
