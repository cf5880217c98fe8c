// softalign score RUN...: forced decoding of target sentences that are given, a line a pair.
#include <fmt/ranges.h>

#include <cmath>

#include "framework/app/command.hpp"
#include "framework/app/models/kept_alignments.hpp"
#include "framework/app/models/new_text.hpp"
#include "framework/app/models/trained.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/text_file.hpp"
#include "framework/eval/forced.hpp"

namespace softalign::app {
namespace {

struct ScoreArguments {
  TrainedArguments trained;
  std::string source, target;
  KeptFiles files;
  bool json = false;
};

// Lines of both files that belong together.
struct Pairs {
  std::string file;  // of the sources
  std::vector<std::string> sources, targets;
  bool last = false;
};

Pairs read_pairs(TextFile& source, TextFile& target, const TrainedRun& run, std::size_t most) {
  Pairs pairs{source.path(), {}, {}};
  std::string a, b;
  while (pairs.sources.size() < most) {
    const bool more = source.next(a);
    if (target.next(b) != more)
      throw DataError(
          "{} ends after {}, {} goes on; line k of one must belong to line k of the other",
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

class ForcedDecoder {
 public:
  ForcedDecoder(const TrainedRuns& runs, const TrainedArguments& arguments, KeptAlignments& kept)
      : runs_(runs),
        workers_(threads_or_all(arguments.threads)),
        kept_(kept),
        sources_(runs.first()),
        targets_(*runs.first().target, "target"),
        sizes_(runs, arguments) {}

  std::size_t block() const {
    return usize(4 * runs_.first().spec().evaluate.batch * workers_.threads());
  }

  // The targets of pairs as hypotheses, in order; one without steps where a side is empty. `first`:
  // the number of the first pair, from 0.
  std::vector<Hypothesis> decode(const Pairs& pairs, Index first) {
    Split split{.name = {}, .examples = Examples(runs_.first().frames), .counts = {}};
    std::vector<Index> line_of;  // of each example
    for (std::size_t i = 0; i < pairs.sources.size(); ++i) {
      Example example =
          sources_.read(pairs.sources[i], pairs.file, first + static_cast<Index>(i) + 1);
      const std::vector<Token> target = targets_.encode(pairs.targets[i]);
      const Index line = first + static_cast<Index>(i);
      if ((example.source.empty() && example.frames.empty()) || target.empty()) {
        if (empty_++ == 0) first_empty_ = line;
        continue;
      }
      example.target = target;
      split.examples.append(example);
      line_of.push_back(line);
    }
    sizes_.check(split, false);
    std::vector<Hypothesis> hypotheses(pairs.sources.size());
    const Batches batches = evaluation_batches(split, runs_.first().spec().evaluate.batch);
    const auto force_batch = [&](Index b) {
      const Batch batch = make_batch(split, batches[usize(b)], runs_.scorer.reads_links());
      std::vector<std::span<const Token>> targets;
      for (const Index example : batch.example)
        targets.push_back(split.examples[usize(example)].target);
      Tape tape(Tape::Mode::infer);
      std::vector<Forced> forced = force(runs_.scorer, tape, batch.source_side(), targets);
      for (std::size_t row = 0; row < forced.size(); ++row) {
        const auto example = usize(batch.example[row]);
        const Index line = line_of[example];
        kept_.keep(line, 0, split.examples[example].source, forced[row].hypothesis);
        hypotheses[usize(line - first)] = std::move(forced[row].hypothesis);
      }
    };
    try {
      workers_.run(std::ssize(batches), force_batch);
    } catch (const DataError&) {
      refuse_unreadable(runs_.scorer, split, pairs.file, line_of);
      throw;
    }
    return hypotheses;
  }

  // What was not scored, or not as it stands: lines, or nothing.
  std::string notes() const {
    std::string text = sources_.note() + targets_.note();
    if (empty_ > 0)
      text += fmt::format(
          "note: pairs without words on a side are not scored: {}, the first in line {}\n",
          empty_,
          first_empty_ + 1);
    return text;
  }

 private:
  const TrainedRuns& runs_;
  Workers workers_;
  KeptAlignments& kept_;
  NewSources sources_;
  UnknownSymbols targets_;
  EvaluationSizes sizes_;
  Index empty_ = 0;
  Index first_empty_ = 0;  // its line, from 0
};

std::string text_of(const Hypothesis& one) {
  if (!one.finished) return "\n";
  return fmt::format("{}\t{}\n", one.log_probability, fmt::join(one.log_probabilities, " "));
}

std::string json_of(Index line, const Hypothesis& one, const Vocabulary& target) {
  Json json = {{"line", line}};
  if (one.finished) {
    json["log_probability"] = one.log_probability;
    json["tokens"] = symbols_of(target, one.tokens, std::ssize(one.tokens) + 1);
    json["log_probabilities"] = one.log_probabilities;
  }
  return json_line(json);
}

void score(const ScoreArguments& arguments) {
  const TrainedRuns runs = open_trained(arguments.trained);
  refuse_links(runs);
  KeptAlignments kept(arguments.files, runs);
  ForcedDecoder decoder(runs, arguments.trained, kept);
  TextFile source(arguments.source, TextFile::Read::once),
      target(arguments.target, TextFile::Read::once);
  Index line = 0, symbols = 0;
  double log_probability = 0;
  for (bool more = true; more;) {
    const Pairs pairs = read_pairs(source, target, runs.first(), decoder.block());
    for (const Hypothesis& one : decoder.decode(pairs, line)) {
      write_data(arguments.json ? json_of(line, one, *runs.first().target) : text_of(one));
      log_probability += one.log_probability;
      symbols += static_cast<Index>(one.steps());
      ++line;
    }
    more = !pairs.last;
  }
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
  CLI::App* command = add_command(
      app,
      "score",
      "how probable given target sentences are, and their alignments: forced decoding. A line a "
      "pair: log probability, a tab, that of each symbol and of </s>",
      "Models",
      "softalign score 3f2a --source source.txt --target target.txt --links forced.links");
  arguments->trained.add_to(*command, {"batch"});
  command
      ->add_option(
          "--source", arguments->source, "one sentence a line, plain or gzip; a pipe will do")
      ->required();
  command->add_option("--target", arguments->target, "the translations, line by line")->required();
  command->add_flag("--json", arguments->json, "a JSON object for each pair, with its symbols");
  arguments->files.add_to(*command);
  command->callback([arguments] { score(*arguments); });
}

}  // namespace softalign::app
