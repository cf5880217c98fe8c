// softalign translate RUN: standard input to standard output, a line a sentence.
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <span>

#include "framework/app/command.hpp"
#include "framework/app/terminal.hpp"
#include "framework/app/trained.hpp"
#include "framework/base/retry.hpp"
#include "framework/base/text.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/text_file.hpp"
#include "framework/eval/search.hpp"
#include "framework/record/alignment_record.hpp"

namespace softalign::app {
namespace {

struct Arguments {
  TrainedArguments trained;
  std::string alignments;
};

std::vector<std::string> words_of(std::span<const Token> tokens,
                                  const Vocabulary& vocabulary,
                                  bool end) {
  std::vector<std::string> words;
  for (const Token token : tokens) words.push_back(vocabulary.symbol(token));
  if (end) words.push_back(vocabulary.symbol(kEnd));
  return words;
}

class Translator {
 public:
  Translator(const TrainedRun& run, int threads, bool keep)
      : run_(run),
        search_(make_plugin<SearchKind>(run.spec().evaluate.search,
                                        static_cast<std::uint64_t>(run.spec().seed))),
        workers_(threads),
        keep_(keep) {}

  // Sentences that are best translated together.
  std::size_t block() const {
    return static_cast<std::size_t>(4 * run_.spec().evaluate.batch * workers_.threads());
  }

  // The translations of lines, in order; that of a line without words is empty. `first`: the number
  // of the first line, from 0.
  std::vector<std::string> translate(const std::vector<std::string>& lines, Index first) {
    Split split;
    std::vector<std::size_t> line_of;  // of each example
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::vector<Token> source = run_.source->encode(lines[i]);
      if (source.empty()) continue;
      count_unknown(lines[i], source);
      split.examples.append({.source = source});
      line_of.push_back(i);
    }
    std::vector<std::string> translations(lines.size());
    const Batches batches = evaluation_batches(split, run_.spec().evaluate.batch);
    workers_.run(std::ssize(batches), [&](Index b) {
      const Batch batch = make_batch(split, batches[static_cast<std::size_t>(b)]);
      Tape tape(Tape::Mode::infer);
      const auto found = search_->run(*run_.model, tape, batch.source_side());
      for (std::size_t row = 0; row < found.size(); ++row) {
        const auto example = static_cast<std::size_t>(batch.example[row]);
        const Hypothesis& best = found[row].front();
        translations[line_of[example]] = run_.target->join(best.tokens);
        if (keep_)
          keep(split.examples[example], best, first + static_cast<Index>(line_of[example]));
      }
    });
    return translations;
  }

  std::vector<Alignment> take_alignments() { return std::move(alignments_); }
  // What of the source the model does not know; empty when there is nothing.
  std::string note() const {
    if (unknown_ == 0) return "";
    return fmt::format(
        "note: {} of {} source symbols are not in the vocabulary: read as <unk>: {}{}\n",
        unknown_,
        words_,
        fmt::join(examples_, " "),
        more_ ? " ..." : "");
  }

 private:
  void count_unknown(const std::string& line, const std::vector<Token>& tokens) {
    constexpr std::size_t kExamples = 5;
    words_ += std::ssize(tokens);
    const Index unknown = std::count(tokens.begin(), tokens.end(), kUnknown);
    if (unknown == 0) return;
    unknown_ += unknown;
    const std::vector<std::string> symbols = run_.source->split(line);
    for (std::size_t i = 0; i < tokens.size() && !more_; ++i) {
      if (tokens[i] != kUnknown) continue;
      const std::string symbol = printable(symbols[i]);
      if (std::find(examples_.begin(), examples_.end(), symbol) != examples_.end()) continue;
      more_ = examples_.size() == kExamples;
      if (!more_) examples_.push_back(symbol);
    }
  }

  void keep(const Example& example, const Hypothesis& best, Index line) {
    Alignment alignment{"cross",
                        run_.record.last_update(),
                        line,
                        0,
                        words_of(example.source, *run_.source, true),
                        words_of(best.tokens, *run_.target, best.finished),
                        best.alignment,
                        {}};
    const std::lock_guard lock(mutex_);
    alignments_.push_back(std::move(alignment));
  }

  const TrainedRun& run_;
  std::unique_ptr<Search> search_;
  Workers workers_;
  bool keep_;
  std::mutex mutex_;
  std::vector<Alignment> alignments_;  // in any order: the file sorts them
  Index words_ = 0;
  Index unknown_ = 0;
  std::vector<std::string> examples_;  // the first unknown symbols
  bool more_ = false;                  // there are others
};

// What others have written so far; waits for them when there is nothing.
std::size_t read_input(std::span<char> buffer) {
  const ssize_t got = retry([&] { return read(STDIN_FILENO, buffer.data(), buffer.size()); });
  if (got < 0)
    throw DataError("standard input: cannot be read: {}; give text, as in < source.txt",
                    std::strerror(errno));
  return static_cast<std::size_t>(got);
}

bool input_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

// Lines of standard input, and the error behind them where there is one.
struct Block {
  std::vector<std::string> lines;
  std::exception_ptr fault;
  bool last = false;
};

// At most `most` lines, and no more than there are now: someone may wait for these translations
// before writing the next line.
Block read_block(LineReader& input, std::size_t most) {
  Block block;
  std::string line;
  try {
    do {
      block.last = !input.next(line);
      if (block.last) break;
      block.lines.push_back(line);
    } while (block.lines.size() < most && (input.holds_more() || input_waits()));
  } catch (const DataError&) {
    block.fault = std::current_exception();
  }
  return block;
}

bool holds_alignments(const std::filesystem::path& file) {
  try {
    return is_alignment_record(file);
  } catch (const DataError&) {
    return false;  // no HDF5, or damaged: not known to be ours
  }
}

// Before anything is translated: only alignments of ours may be replaced.
void check_place(const std::filesystem::path& file) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw SpecError("--alignments: there is no folder {}", folder.string());
  if (!std::filesystem::exists(file)) return;
  if (!std::filesystem::is_regular_file(file))
    throw SpecError("--alignments: {} is no regular file", file.string());
  if (!holds_alignments(file))
    throw SpecError(
        "--alignments: {} exists and holds no alignments of softalign translate; choose another "
        "name or remove it",
        file.string());
}

void translate(const Arguments& arguments) {
  const TrainedRun run = open_trained(arguments.trained);
  const bool keep = !arguments.alignments.empty();
  if (keep && !run.model->aligns())
    throw SpecError("--alignments: this run's model has no attention, so there are none");
  if (keep) check_place(arguments.alignments);
  Translator translator(run, threads_or_all(arguments.trained.threads), keep);
  LineReader input("standard input", read_input);
  Index lines = 0;
  for (bool more = true; more;) {
    const Block block = read_block(input, translator.block());
    for (const std::string& text : translator.translate(block.lines, lines))
      fmt::print("{}\n", text);
    if (std::fflush(stdout) != 0) break;  // main says why
    lines += std::ssize(block.lines);
    if (block.fault) std::rethrow_exception(block.fault);
    more = !block.last;
  }
  write_error(translator.note());
  if (keep)
    write_alignment_record(FileSystem::real(),
                           arguments.alignments,
                           run.record.run_id(),
                           translator.take_alignments());
}

}  // namespace

void add_translate(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app,
                                  "translate",
                                  "standard input to standard output, a line a sentence, in words "
                                  "as the training text has them",
                                  "Models",
                                  "softalign translate 3f2a < source.txt > target.txt");
  arguments->trained.add_to(*command);
  command->add_option("--alignments",
                      arguments->alignments,
                      "write the words and the alignment matrices into this HDF5 file");
  command->callback([arguments] { translate(*arguments); });
}

}  // namespace softalign::app
