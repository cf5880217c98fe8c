// softalign translate, score: apply trained models to new text.
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <span>

#include "framework/app/command.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/models/demand_files.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/elementary.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/frame_file.hpp"
#include "framework/data/text_file.hpp"
#include "framework/eval/search.hpp"
#include "framework/inference/translator.hpp"

namespace softalign::app {

// softalign translate RUN...: translates standard input to standard output, one sentence per line.

namespace {

// Draws the progress of a text; may be called from any thread.
CountLines lines_done(ProgressObserver& observer, std::mutex& mutex, const char* what) {
  return [&observer, &mutex, what](Index lines) {
    const std::lock_guard lock(mutex);
    observer.lines(what, lines);
  };
}

constexpr const char* kInput = "standard input";

struct TranslateArguments {
  TrainedArguments trained;
  KeptFiles files;
  Index n_best = 0;  // 0: only the best, as plain text
  DemandOptions demands;
  std::string too_long = "refuse";
  bool json = false;
  std::string frames;  // a file; empty: standard input
};

TooLong too_long_of(const std::string& name) {
  return name == "crop" ? TooLong::crop : name == "skip" ? TooLong::skip : TooLong::refuse;
}

// Returns one line per input line; with --n-best one per hypothesis, and "" for an empty input line.
std::string text_of(const Translation& translation, const Vocabulary& target, Index n_best) {
  const std::vector<Hypothesis>& all = translation.hypotheses;
  if (n_best == 0) return (all.empty() ? "" : softalign::text_of(all.front(), target)) + "\n";
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n",
                        translation.line,
                        k + 1,
                        all[k].score,
                        all[k].log_probability,
                        softalign::text_of(all[k], target));
  return text;
}

// Reads the bytes that are available on standard input; waits if there are none.
std::size_t read_input(std::span<char> buffer) {
  const ssize_t got = retry([&] { return read(STDIN_FILENO, buffer.data(), buffer.size()); });
  if (got < 0)
    throw DataError("standard input: cannot be read: {}; give text, as in < source.txt",
                    std::strerror(errno));
  return usize(got);
}

bool input_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

// Lines of standard input, and the error after them, if any.
struct Block {
  std::vector<std::string> lines;
  std::exception_ptr fault;
  bool last = false;
};

// Reads at most `most` lines, and after the first only those available now, because the writer may
// wait for their translations before it sends the next line.
Block read_block(LineReader& input, const Vocabulary* source, std::size_t most) {
  Block block;
  std::string line;
  try {
    do {
      block.last = !input.next(line);
      if (block.last) break;
      if (source && source->marks_spaces())
        check_space_marks(line, input.name(), input.line_number());
      block.lines.push_back(line);
    } while (block.lines.size() < most && (input.holds_more() || input_waits()));
  } catch (const DataError&) {
    block.fault = std::current_exception();
  }
  return block;
}

// Refuses a text file as an argument, where other programs take one.
void refuse_text_files(const std::vector<std::string>& more) {
  std::error_code none;
  for (const std::string& file : more)
    if (!is_override(file) && fs::is_regular_file(file, none) &&
        fs::path(file).extension() != ".h5")
      throw SpecError(
          "{}: not a run; text is read from standard input: < {}", file, shell_word(file));
}

void write_translations(const std::vector<Translation>& translations,
                        const TranslateArguments& arguments,
                        const Vocabulary& target) {
  for (const Translation& one : translations)
    write_data(arguments.json ? json_line(translation_json(one, target))
                              : text_of(one, target, arguments.n_best));
}

// Translates the lines of standard input; returns their number.
Index translate_lines(Translator& translator,
                      DemandFiles& demands,
                      const TranslateArguments& arguments,
                      const TrainedRun& run) {
  LineReader input(kInput,
                   read_input,
                   arguments.too_long == "refuse" ? LineReader::LongLines::refuse
                                                  : LineReader::LongLines::shorten,
                   run.source ? "--too-long=crop or skip" : "--too-long=skip");
  Index lines = 0;
  for (bool more = true; more;) {
    const Block block = read_block(input, run.source.get(), translator.block());
    write_translations(translator.translate(block.lines, lines, demands.next(block.lines.size())),
                       arguments,
                       *run.target);
    if (std::fflush(stdout) != 0) break;  // main says why
    lines += std::ssize(block.lines);
    if (block.fault) std::rethrow_exception(block.fault);
    more = !block.last;
  }
  return lines;
}

// Translates the arrays of a file; returns their number.
Index translate_frames(Translator& translator,
                       DemandFiles& demands,
                       const TranslateArguments& arguments,
                       const TrainedRun& run) {
  FrameFile file(arguments.frames, run.frames.size);
  for (Index array = 0; array < file.size();) {
    std::vector<std::vector<float>> block;
    const Index first = array;
    while (array < file.size() && block.size() < translator.block())
      block.push_back(file.read(array++));
    write_translations(translator.translate_frames(block, first, demands.next(block.size())),
                       arguments,
                       *run.target);
    if (std::fflush(stdout) != 0) break;  // main says why
  }
  return file.size();
}

void translate(const TranslateArguments& arguments) {
  refuse_text_files(arguments.trained.more);
  const TrainedRuns runs = arguments.trained.open();
  refuse_links(runs);
  const TrainedRun& run = runs.first();
  const bool from_file = !arguments.frames.empty();
  if (from_file && !run.frames)
    throw SpecError("--frames: run {} reads text, from standard input", run.run_id);
  KeptAlignments kept(arguments.files, runs);
  ProgressObserver observer(ProgressObserver::Signals::left);
  std::mutex mutex;
  const std::string input = from_file ? arguments.frames : kInput;
  Translator translator(runs,
                        {.most = std::max<Index>(1, arguments.n_best),
                         .input = input,
                         .take = kept.take(),
                         .too_long = too_long_of(arguments.too_long),
                         .done = lines_done(observer, mutex, "translating")});
  DemandFiles demands(arguments.demands, translator, *run.target, input);
  const Index lines =
      (from_file ? translate_frames : translate_lines)(translator, demands, arguments, run);
  demands.finish();
  observer.clear();
  write_error(translator.notes());
  kept.write(lines);
}

}  // namespace

void add_translate(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<TranslateArguments>();
  CLI::App* command =
      add_command(app,
                  "translate",
                  "translate standard input to standard output, one tokenized sentence per line",
                  "Models",
                  "softalign translate 3f2a < source.txt > target.txt");
  arguments->trained.add_to(*command, {"search", "unknown_words", "batch"});
  command
      ->add_option("--n-best",
                   arguments->n_best,
                   "print this many hypotheses per sentence, one per line: sentence number from 0, "
                   "rank, score, log probability and text, separated by tabs; equal samples are "
                   "merged (--json counts them)")
      ->check(integer(between(1, 1000)));
  command->add_option("--frames",
                      arguments->frames,
                      "read frames from an HDF5 file with the datasets frames and lengths instead "
                      "of standard input");
  arguments->demands.add_to(*command);
  command
      ->add_option("--too-long",
                   arguments->too_long,
                   "lines too long for the memory: refuse them, crop (translate their beginning) "
                   "or skip (print an empty line)")
      ->capture_default_str()
      ->check(CLI::IsMember({"refuse", "crop", "skip"}));
  command->add_flag("--json",
                    arguments->json,
                    "print one JSON object per sentence, with the log probability of every symbol");
  arguments->files.add_to(*command);
  command->callback([arguments] { translate(*arguments); });
}

// softalign score RUN...: forced decoding of given target sentences, one pair per line.

namespace {

struct ScoreArguments {
  TrainedArguments trained;
  std::string source, target;
  KeptFiles files;
  bool json = false;
};

// Corresponding lines of both files.
struct Pairs {
  std::vector<std::string> sources, targets;
  bool last = false;
};

Pairs read_pairs(TextFile& source, TextFile& target, const TrainedRun& run, std::size_t most) {
  Pairs pairs;
  std::string a, b;
  while (pairs.sources.size() < most) {
    const bool more = source.next(a);
    if (target.next(b) != more)
      throw DataError(
          "{} ends after {}, {} is longer; line k of one must belong to line k of the other",
          (more ? target : source).path(),
          counted((more ? target : source).line_number(), "line"),
          (more ? source : target).path());
    pairs.last = !more;
    if (!more) break;
    if (run.source && run.source->marks_spaces())
      check_space_marks(a, source.path(), source.line_number());
    if (run.target->marks_spaces()) check_space_marks(b, target.path(), target.line_number());
    pairs.sources.push_back(a);
    pairs.targets.push_back(b);
  }
  return pairs;
}

std::string text_of(const Hypothesis& one) {
  if (!one.finished) return "\n";
  return fmt::format("{}\t{}\n", one.log_probability, fmt::join(one.log_probabilities, " "));
}

void score(const ScoreArguments& arguments) {
  const TrainedRuns runs = arguments.trained.open();
  refuse_links(runs);
  KeptAlignments kept(arguments.files, runs);
  ProgressObserver observer(ProgressObserver::Signals::left);
  std::mutex mutex;
  ForcedDecoder decoder(
      runs, arguments.source, kept.take(), lines_done(observer, mutex, "scoring"));
  TextFile source(arguments.source, TextFile::Read::once),
      target(arguments.target, TextFile::Read::once);
  Index line = 0, symbols = 0;
  double log_probability = 0;
  for (bool more = true; more;) {
    const Pairs pairs = read_pairs(source, target, runs.first(), decoder.block());
    for (const Hypothesis& one : decoder.decode(pairs.sources, pairs.targets, line)) {
      write_data(arguments.json ? json_line(score_json(line, one, *runs.first().target))
                                : text_of(one));
      log_probability += one.log_probability;
      symbols += static_cast<Index>(one.steps());
      ++line;
    }
    more = !pairs.last;
  }
  observer.clear();
  if (symbols > 0)
    write_error(fmt::format("perplexity {:.4g}: {:.6g} nats over {} symbols with </s>\n",
                            exact::exp(-log_probability / static_cast<double>(symbols)),
                            -log_probability,
                            symbols));
  write_error(decoder.notes());
  kept.write(line);
}

}  // namespace

void add_score(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command =
      add_command(app,
                  "score",
                  "score and align given translations (forced decoding)",
                  "Models",
                  "softalign score 3f2a --source source.txt --target target.txt --links "
                  "forced.links\n\nPrints one line per pair: the log probability of the sentence, "
                  "a tab, and those of its symbols\nand of </s>.");
  arguments->trained.add_to(*command, {"batch"});
  command
      ->add_option("--source",
                   arguments->source,
                   "source sentences, one per line (frames: one line of numbers), plain or gzip")
      ->required();
  command->add_option("--target", arguments->target, "translations, one per line")->required();
  command->add_flag("--json", arguments->json, "print one JSON object per pair, with its symbols");
  arguments->files.add_to(*command);
  command->callback([arguments] { score(*arguments); });
}

}  // namespace softalign::app
