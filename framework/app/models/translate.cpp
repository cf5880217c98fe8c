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
#include "framework/app/models/kept_alignments.hpp"
#include "framework/app/models/new_text.hpp"
#include "framework/app/models/trained.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/number_option.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/path.hpp"
#include "framework/base/retry.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/text_file.hpp"

namespace softalign::app {
namespace {

constexpr const char* kInput = "standard input";

struct TranslateArguments {
  TrainedArguments trained;
  KeptFiles files;
  Index n_best = 0;  // 0: the best alone, as plain text
  bool json = false;
};

// A line that was translated, and its hypotheses, best first: none for a line without words.
struct Translation {
  Index line = 0;  // from 0
  std::vector<Hypothesis> hypotheses;
};

class Translator {
 public:
  // Of each sentence the best `most` hypotheses.
  Translator(const TrainedRuns& runs,
             const TrainedArguments& arguments,
             Index most,
             KeptAlignments& kept)
      : runs_(runs),
        search_(runs.search()),
        workers_(threads_or_all(arguments.threads)),
        most_(most),
        kept_(kept),
        sources_(run()),
        sizes_(runs, arguments) {
    if (most <= search_->most()) return;
    const std::string_view option = search_->most_option();
    throw SpecError("--n-best {}: search '{}' finds at most {} of a sentence; give {}={}",
                    most,
                    run().spec().evaluate.search.type,
                    search_->most(),
                    option.empty() ? "search=beam search.width" : fmt::format("search.{}", option),
                    most);
  }

  // Sentences that are best translated together.
  std::size_t block() const { return usize(4 * run().spec().evaluate.batch * workers_.threads()); }

  // The translations of lines, in order. `first`: the number of the first line, from 0.
  std::vector<Translation> translate(const std::vector<std::string>& lines, Index first) {
    Split split{.name = {}, .examples = Examples(run().frames), .counts = {}};
    std::vector<Translation> translations(lines.size());
    std::vector<Index> line_of;  // of each example
    for (std::size_t i = 0; i < lines.size(); ++i) {
      translations[i].line = first + static_cast<Index>(i);
      const Example source = sources_.read(lines[i], kInput, translations[i].line + 1);
      if (source.source.empty() && source.frames.empty()) continue;
      split.examples.append(source);
      line_of.push_back(translations[i].line);
    }
    sizes_.check(split, true);
    const Batches batches = evaluation_batches(split, run().spec().evaluate.batch);
    const auto search = [&](Index b) {
      const Batch batch = make_batch(split, batches[usize(b)], runs_.scorer.reads_links());
      std::vector<Index> numbers;  // what is drawn at random depends on the line alone
      for (const Index example : batch.example) numbers.push_back(line_of[usize(example)]);
      SourceBatch source = batch.source_side();
      source.examples = numbers;
      Tape tape(Tape::Mode::infer);
      auto found = search_->run(runs_.scorer, tape, source);
      for (std::size_t row = 0; row < found.size(); ++row) {
        auto& best = found[row];
        best.resize(std::min(best.size(), usize(most_)));
        const auto example = usize(batch.example[row]);
        for (std::size_t k = 0; k < best.size(); ++k)
          kept_.keep(numbers[row], static_cast<Index>(k), split.examples[example].source, best[k]);
        translations[usize(numbers[row] - first)].hypotheses = std::move(best);
      }
    };
    try {
      workers_.run(std::ssize(batches), search);
    } catch (const DataError&) {
      refuse_unreadable(runs_.scorer, split, kInput, line_of);
      throw;
    }
    return translations;
  }

  std::string note() const { return sources_.note(); }

 private:
  const TrainedRun& run() const { return runs_.first(); }

  const TrainedRuns& runs_;
  std::unique_ptr<Search> search_;
  Workers workers_;
  Index most_;
  KeptAlignments& kept_;
  NewSources sources_;
  EvaluationSizes sizes_;
};

Json json_of(const Hypothesis& hypothesis, const Vocabulary& target) {
  Json json = {
      {"text", target.join(hypothesis.tokens)},
      {"score", hypothesis.score},
      {"log_probability", hypothesis.log_probability},
      {"finished", hypothesis.finished},
      {"tokens", symbols_of(target, hypothesis.tokens, static_cast<Index>(hypothesis.steps()))},
      {"log_probabilities", hypothesis.log_probabilities}};
  if (hypothesis.drawn > 0) json["drawn"] = hypothesis.drawn;
  return json;
}

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

std::string json_of(const Translation& translation, const Vocabulary& target) {
  Json hypotheses = Json::array();
  for (const Hypothesis& one : translation.hypotheses) hypotheses.push_back(json_of(one, target));
  return json_line({{"line", translation.line}, {"hypotheses", std::move(hypotheses)}});
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
  const TrainedRuns runs = open_trained(arguments.trained);
  refuse_links(runs);
  KeptAlignments kept(arguments.files, runs);
  const Vocabulary& target = *runs.first().target;
  Translator translator(runs, arguments.trained, std::max<Index>(1, arguments.n_best), kept);
  LineReader input(kInput, read_input);
  Index lines = 0;
  for (bool more = true; more;) {
    const Block block = read_block(input, runs.first().source.get(), translator.block());
    for (const Translation& one : translator.translate(block.lines, lines))
      write_data(arguments.json ? json_of(one, target) : text_of(one, target, arguments.n_best));
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
