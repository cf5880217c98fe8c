// softalign translate RUN...: standard input to standard output, a line a sentence.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>

#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/number_option.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/text_file.hpp"
#include "framework/inference/translator.hpp"

namespace softalign::app {
namespace {

constexpr const char* kInput = "standard input";

struct TranslateArguments {
  TrainedArguments trained;
  KeptFiles files;
  Index n_best = 0;  // 0: the best alone, as plain text
  bool json = false;
};

// A line for a line; with --n-best one for each hypothesis, none for an empty line.
std::string text_of(const Translation& translation, const Vocabulary& target, Index n_best) {
  const std::vector<Hypothesis>& all = translation.hypotheses;
  if (n_best == 0) return (all.empty() ? "" : target.join(all.front().tokens)) + "\n";
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n",
                        translation.line,
                        k + 1,
                        all[k].score,
                        all[k].log_probability,
                        target.join(all[k].tokens));
  return text;
}

// What others have written so far; waits for them when there is nothing.
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

// Lines of standard input, and the error behind them where there is one.
struct Block {
  std::vector<std::string> lines;
  std::exception_ptr fault;
  bool last = false;
};

// At most `most` lines, and no more than there are now: someone may wait for these translations
// before writing the next line.
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

// Where another program would take the text's file.
void refuse_text_files(const std::vector<std::string>& more) {
  std::error_code none;
  for (const std::string& file : more)
    if (!is_override(file) && fs::is_regular_file(file, none) &&
        fs::path(file).extension() != ".h5")
      throw SpecError(
          "{}: not a run; text is read from standard input: < {}", file, shell_word(file));
}

void translate(const TranslateArguments& arguments) {
  refuse_text_files(arguments.trained.more);
  const TrainedRuns runs = arguments.trained.open();
  refuse_links(runs);
  KeptAlignments kept(arguments.files, runs);
  const Vocabulary& target = *runs.first().target;
  Translator translator(runs, std::max<Index>(1, arguments.n_best), kInput, kept.take());
  LineReader input(kInput, read_input);
  Index lines = 0;
  for (bool more = true; more;) {
    const Block block = read_block(input, runs.first().source.get(), translator.block());
    for (const Translation& one : translator.translate(block.lines, lines))
      write_data(arguments.json ? json_line(translation_json(one, target))
                                : text_of(one, target, arguments.n_best));
    if (std::fflush(stdout) != 0) break;  // main says why
    lines += std::ssize(block.lines);
    if (block.fault) std::rethrow_exception(block.fault);
    more = !block.last;
  }
  write_error(translator.note());
  kept.write(lines);
}

}  // namespace

void add_translate(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<TranslateArguments>();
  CLI::App* command = add_command(app,
                                  "translate",
                                  "standard input to standard output, a line a sentence, in words "
                                  "as the training text has them",
                                  "Models",
                                  "softalign translate 3f2a < source.txt > target.txt");
  arguments->trained.add_to(*command, {"search", "batch"});
  command
      ->add_option(
          "--n-best",
          arguments->n_best,
          "hypotheses of a sentence, a line each: number of the sentence from 0, rank, "
          "score, log probability, text, tabs between them; samples equal in every symbol are one "
          "(--json: how often it was drawn)")
      ->check(integer(between(1, 1000)));
  command->add_flag("--json",
                    arguments->json,
                    "a JSON object for each sentence, with the log probability of every symbol");
  arguments->files.add_to(*command);
  command->callback([arguments] { translate(*arguments); });
}

}  // namespace softalign::app
