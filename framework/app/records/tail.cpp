// softalign tail RUN [-f]: shows the last lines of a run's journal, and with -f new ones as they are
// written.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <variant>

#include "framework/app/command.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/journal/journal.hpp"

namespace softalign::app {
namespace {

struct TailArguments {
  RunArgument run;
  int lines = 20;
  bool follow = false;
};

// Formats a frame as a line; empty for frames that people do not need.
struct Line {
  std::string operator()(const Scalars& s) const {
    std::string text = fmt::format("{:>8}  {:<6}", s.update, s.series);
    for (const auto& [name, value] : s.values) text += fmt::format("  {} {:.4g}", name, value);
    return text;
  }
  std::string operator()(const Event& e) const {
    return fmt::format("{}  {}", utc_time(e.time), e.text);
  }
  std::string operator()(const CheckpointMark& c) const {
    return fmt::format("{:>8}  checkpoint", c.update);
  }
  std::string operator()(const End& e) const {
    return fmt::format("{}  ended: {}", utc_time(e.time), e.state);
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

// Reads all journals of a run, one after another, including those of later attempts as they appear.
class Journals {
 public:
  explicit Journals(RunFolder run) : run_(std::move(run)) {}

  std::vector<std::string> next() {
    std::vector<std::string> lines;
    while (true) {
      if (tail_) read(lines);
      const auto numbers = run_.journals();
      const auto later = std::upper_bound(numbers.begin(), numbers.end(), number_);
      if (later == numbers.end()) return lines;
      number_ = *later;
      tail_.emplace(run_.journal(number_));
      begun_ = false;
    }
  }

 private:
  void read(std::vector<std::string>& lines) {
    const std::vector<Frame> frames = tail_->next();
    if (!begun_ && tail_->header()) {
      begun_ = true;
      lines.push_back(fmt::format(
          "{}  attempt {} started", utc_time(tail_->header()->started), tail_->header()->attempt));
    }
    for (const Frame& frame : frames)
      if (std::string line = std::visit(Line{}, frame); !line.empty())
        lines.push_back(std::move(line));
  }

  RunFolder run_;
  std::optional<JournalTail> tail_;
  Index number_ = 0;
  bool begun_ = false;
};

void tail(const TailArguments& arguments) {
  if (arguments.lines == 0 && !arguments.follow)
    throw SpecError("-n 0 shows nothing; add -f to see only new lines");
  const RunFolder run = find_run_folder(arguments.run.run, arguments.run.results);
  Journals journals(run);
  std::vector<std::string> lines = journals.next();
  const auto skip = std::max<std::ptrdiff_t>(0, std::ssize(lines) - arguments.lines);
  lines.erase(lines.begin(), lines.begin() + skip);
  while (true) {
    for (const std::string& line : lines) print_text("{}\n", line);
    std::fflush(stdout);
    if (!arguments.follow || output_is_closed()) return;
    const bool over = !is_worked_on(run_status(run).state);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    lines = journals.next();
    if (over && lines.empty()) return;
  }
}

}  // namespace

void add_tail(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<TailArguments>();
  CLI::App* command = add_command(app,
                                  "tail",
                                  "show the last numbers of a run, also during training",
                                  "Records",
                                  "softalign tail -f 3f2a");
  arguments->run.add_to(*command);
  command->add_option("-n,--lines", arguments->lines, "number of lines")
      ->capture_default_str()
      ->check(integer(between(0, 1000000000)));
  command->add_flag("-f,--follow", arguments->follow, "follow the run until it ends");
  command->callback([arguments] { tail(*arguments); });
}

}  // namespace softalign::app
