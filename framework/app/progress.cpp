#include "framework/app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

namespace softalign::app {
namespace {

volatile std::sig_atomic_t stop_signal = 0;
void on_signal(int signal) { stop_signal = signal; }

}  // namespace

ProgressObserver::ProgressObserver() : terminal_(isatty(STDERR_FILENO) != 0) {
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, on_signal);
}

bool ProgressObserver::stop_requested() { return stop_signal != 0; }

void ProgressObserver::message(std::string_view text) {
  fmt::print(stderr, "{}{}\n", terminal_ ? "\r\033[K" : "", text);
}

void ProgressObserver::stage(std::string_view what, Index done, Index total) {
  if (terminal_) fmt::print(stderr, "\r\033[K{} {}/{}", what, done, total);
}

void ProgressObserver::update(const TrainingProgress& p) {
  const auto now = Clock::now();
  if (first_update_ < 0) {
    first_update_ = p.update - 1;
    started_ = now;
  }
  tokens_ += static_cast<double>(p.tokens);
  if (now - drawn_ < std::chrono::milliseconds(terminal_ ? 100 : 10000)) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const double left = seconds / static_cast<double>(p.update - first_update_) *
                      static_cast<double>(p.updates - p.update);
  fmt::print(stderr,
             "{}epoch {}/{}  update {}/{}  loss {:.3f}  {:.0f} tokens/s  {:.0f} s left{}",
             terminal_ ? "\r\033[K" : "",
             p.epoch,
             p.epochs,
             p.update,
             p.updates,
             p.loss,
             tokens_ / std::max(seconds, 1e-3),
             left,
             terminal_ ? "" : "\n");
}

void ProgressObserver::dev(const TrainingProgress& p, const MetricTable& table, bool best) {
  std::string text = fmt::format("epoch {} dev:", p.epoch);
  for (const std::string& name : table.metrics)
    if (const double value = table.at("all", name); std::isfinite(value))
      text += fmt::format("  {} {:.3g}", name, value);
  message(text + (best ? "  *" : ""));
}

}  // namespace softalign::app
