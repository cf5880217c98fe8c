#include "framework/app/terminal/interrupt.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/workers.hpp"
#include "framework/record/folder/status.hpp"

namespace softalign::app {
namespace {

constexpr unsigned kFinishing = 3;  // seconds for the end of a step
constexpr unsigned kSaving = 5;     // seconds more to leave it, to save and to publish

// Signals may come at once, each in a thread of its own.
std::atomic<bool> stopping = false, hurried = false, ctrl_c = false, abandons_step = false;
static_assert(std::atomic<bool>::is_always_lock_free);
volatile sig_atomic_t on_terminal = 0;

// Only what a signal handler may do: no allocation, no stream. It waits for no reader either.
void say(std::string_view text) {
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  if (poll(&error, 1, 0) != 1 || (error.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] void end_at_once() {
  release_claim_at_once();
  say("stopped at once: what was saved is kept, run the same command again to go on\n");
  _exit(static_cast<int>(ExitCode::interrupted));
}

void on_signal(int signal) {
  const int reason = errno;  // of the call that is interrupted
  if (on_terminal != 0) say("\r\033[K");
  if (signal == SIGALRM) {
    if (abandons_step.exchange(true)) end_at_once();
    alarm(kSaving);
  } else {
    if (signal == SIGINT && ctrl_c.exchange(true)) end_at_once();
    if (signal != SIGUSR1 && !hurried.exchange(true)) alarm(kFinishing);
    say(stopping.exchange(true)
            ? "still saving; wait a moment, or nothing since the last checkpoint is kept\n"
            : "stopping: this step is finished first, or left if it takes long\n");
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
    // Whoever started us in the background, or by nohup, wants some to be ignored.
    if (before.sa_handler != SIG_IGN || signal == SIGALRM) sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return stopping; }

}  // namespace softalign::app
