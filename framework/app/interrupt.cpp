#include "framework/app/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

namespace softalign::app {
namespace {

// Signals may come at once, each in a thread of its own.
std::atomic<bool> stopping = false;
static_assert(std::atomic<bool>::is_always_lock_free);
volatile sig_atomic_t on_terminal = 0;

// Only what a signal handler may do: no allocation, no stream.
void say(std::string_view text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void on_signal(int) {
  if (on_terminal != 0) say("\r\033[K");
  say(stopping.exchange(true)
          ? "still saving; wait a moment, or nothing since the last checkpoint is kept\n"
          : "stopping: this step is finished first\n");
}

}  // namespace

void catch_interrupts() {
  on_terminal = isatty(STDERR_FILENO);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN)  // whoever started us in the background wants it ignored
      sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return stopping; }

}  // namespace softalign::app
