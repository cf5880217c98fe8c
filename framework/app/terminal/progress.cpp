#include "framework/app/terminal/progress.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <string_view>
#include <utility>

#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/train/followers.hpp"

namespace softalign::app {
namespace {

std::string bar(double share, std::size_t columns) {
  const auto halves =
      usize(std::lround(2 * static_cast<double>(columns) * std::clamp(share, 0.0, 1.0)));
  std::string text;
  for (std::size_t i = 0; i < columns; ++i)
    text += 2 * i + 2 <= halves ? "━" : 2 * i + 1 == halves ? "╸" : "┄";
  return text;
}

}  // namespace

std::string progress_line(const std::string& head,
                          double share,
                          const std::string& tail,
                          std::size_t columns) {
  constexpr std::size_t kShortest = 6, kLongest = 30;
  const std::size_t text = columns_of(head) + columns_of(tail) + 4;  // with two blanks around a bar
  if (share < 0 || text + kShortest > columns) return cut(head + "  " + tail, columns);
  return head + "  " + bar(share, std::min(kLongest, columns - text)) + "  " + tail;
}

std::unique_ptr<Ranks> start_ranks(bool mpi) {
  if (mpi) return mpi_ranks();
  for (const auto& [count, rank] : {std::pair("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
                                    std::pair("PMI_SIZE", "PMI_RANK"),
                                    std::pair("SLURM_STEP_NUM_TASKS", "SLURM_PROCID")}) {
    const std::string processes = environment_variable(count);
    if (!processes.empty() && processes != "1" && environment_variable(rank) == "0")
      write_error(fmt::format(
          "note: started as {} independent processes; --mpi shares one run among them\n",
          processes));
  }
  return nullptr;
}

void follow_silently(Ranks& ranks, const std::function<void(Observer&)>& work) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(signal, SIG_IGN);
  Observer silent;
  try {
    work(silent);
  } catch (const Dismissed&) {
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", ranks.rank(), message_of(error));
    ranks.abort(1);
  }
}

std::string page_hint(const std::string& results) {
  return fmt::format("softalign serve {}  shows the learning curves in a browser",
                     shell_file(results));
}

ProgressObserver::ProgressObserver(Signals signals, std::string results)
    : terminal_(isatty(STDERR_FILENO) != 0),
      drawn_(Clock::now()),
      started_(drawn_),
      hint_(terminal_ && !results.empty() ? page_hint(results) : "") {
  if (signals == Signals::caught) catch_interrupts();
}

bool ProgressObserver::stop_requested() { return interrupted(); }

bool ProgressObserver::due() {
  const auto now = Clock::now();
  if (now - drawn_ < std::chrono::milliseconds(terminal_ ? 100 : 10000)) return false;
  drawn_ = now;
  return true;
}

void ProgressObserver::clear() {
  if (drawn_on_) write_error("\r\033[K");
  drawn_on_ = false;
}

void ProgressObserver::draw(const std::string& head, double share, const std::string& tail) {
  if (!terminal_) {
    write_error(fmt::format("{}  {}\n", head, tail));
    return;
  }
  // One column stays free, because some terminals wrap when the last one is written. Wrapping is off
  // while the line is drawn, in case the terminal has just become narrower.
  const std::size_t columns = std::max<std::size_t>(terminal_columns(STDERR_FILENO), 2) - 1;
  write_error(fmt::format("\r\033[?7l{}\033[K\033[?7h", progress_line(head, share, tail, columns)));
  drawn_on_ = true;
}

void ProgressObserver::message(std::string_view text) {
  clear();
  write_error(fmt::format("{}\n", shortened(printable(text, kWhole))));
}

void ProgressObserver::stage(std::string_view what, Index done, Index total) {
  if (!due()) return;
  if (total <= 0) return draw(std::string(what), -1, done > 0 ? fmt::format("{}", done) : "");
  draw(std::string(what),
       static_cast<double>(done) / static_cast<double>(total),
       fmt::format("{}/{}", done, total));
}

void ProgressObserver::lines(std::string_view what, Index more) {
  lines_ += more;
  if (!terminal_ || isatty(STDOUT_FILENO) != 0 || Clock::now() - started_ < kSlow || !due()) return;
  const double seconds = std::chrono::duration<double>(drawn_ - started_).count();
  draw(std::string(what),
       -1,
       fmt::format("{}  {} lines/s",
                   counted(lines_, "line"),
                   rough_count(static_cast<double>(lines_) / seconds)));
}

void ProgressObserver::update(const TrainingProgress& p) {
  if (first_update_ < 0) {  // timing starts after the first update, when no rate is known yet
    first_update_ = p.update;
    started_ = Clock::now();
    return;
  }
  tokens_ += static_cast<double>(p.tokens);
  if (!due()) return;
  const double seconds = std::chrono::duration<double>(drawn_ - started_).count();
  if (!hint_.empty() && drawn_ - started_ > kHintAfter) message(std::exchange(hint_, ""));
  const double left = seconds / static_cast<double>(p.update - first_update_) *
                      static_cast<double>(p.updates - p.update);
  draw(fmt::format("epoch {}/{}  loss {:.3f}", p.epoch, p.epochs, p.loss),
       static_cast<double>(p.update) / static_cast<double>(std::max<Index>(1, p.updates)),
       fmt::format("update {}/{}  {} tokens/s  {} left",
                   p.update,
                   p.updates,
                   rough_count(tokens_ / std::max(seconds, 1e-3)),
                   clock_time(left)));
}

void ProgressObserver::dev(const TrainingProgress& p, const MetricTable& table, bool best) {
  std::string text = fmt::format("epoch {}/{}  update {}  dev:", p.epoch, p.epochs, p.update);
  for (const std::string& name : main_metrics(table))
    if (const double value = table.at("all", name); !std::isnan(value))
      text += fmt::format("  {} {}", name, metric_text(value, name));
  message(text + (best ? "  best so far" : ""));
}

void JsonObserver::message(std::string_view text) {
  write_data(json_line(Json{{"event", "message"}, {"text", text}}));
  std::fflush(stdout);
}

void JsonObserver::dev(const TrainingProgress& p, const MetricTable& table, bool best) {
  const Json line = {{"event", "dev"},
                     {"epoch", p.epoch},
                     {"epochs", p.epochs},
                     {"update", p.update},
                     {"updates", p.updates},
                     {"train_loss", p.loss},
                     {"best", best},
                     {"metrics", metrics_json(table).at("all")}};
  write_data(json_line(line));
  std::fflush(stdout);
}

namespace {

constexpr unsigned kFinishing = 3;  // seconds to finish a step
constexpr unsigned kSaving = 5;     // further seconds to abandon the step, save and publish

// Signals may arrive at the same time, each in its own thread.
std::atomic<bool> stopping = false, hurried = false, ctrl_c = false, abandons_step = false;
static_assert(std::atomic<bool>::is_always_lock_free);
volatile sig_atomic_t on_terminal = 0;

// Writes to standard error within the limits of a signal handler: without allocation, streams or waiting for a reader.
void say(std::string_view text) {
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  if (poll(&error, 1, 0) != 1 || (error.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] void end_at_once() {
  release_claim_at_once();
  say("stopped at once; run the same command again to resume from the last saved state\n");
  _exit(static_cast<int>(ExitCode::interrupted));
}

void on_signal(int signal) {
  const int reason = errno;  // of the interrupted call
  if (on_terminal != 0) say("\r\033[K");
  if (signal == SIGALRM) {
    if (abandons_step.exchange(true)) end_at_once();
    alarm(kSaving);
  } else {
    if (signal == SIGINT && ctrl_c.exchange(true)) end_at_once();
    if (signal != SIGUSR1 && !hurried.exchange(true)) alarm(kFinishing);
    say(stopping.exchange(true)
            ? "still saving; wait a moment, or everything since the last checkpoint is lost\n"
            : "stopping: finishing this step first, unless it takes long\n");
  }
  errno = reason;
}

}  // namespace

void catch_interrupts() {
  static const AbandonScope of_this_thread(&abandons_step);
  constexpr int kSignals[] = {SIGALRM, SIGINT, SIGTERM, SIGHUP, SIGUSR1};
  on_terminal = isatty(STDERR_FILENO);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) sigaddset(&action.sa_mask, signal);
  for (const int signal : kSignals) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    // Signals that a shell (for a background job) or nohup has set to be ignored stay ignored.
    if (before.sa_handler != SIG_IGN || signal == SIGALRM) sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return stopping; }

}  // namespace softalign::app
