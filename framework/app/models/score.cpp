// softalign score RUN...: forced decoding of target sentences that are given, a line a pair.
#include <fmt/ranges.h>

#include <cmath>

#include "framework/app/command.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/elementary.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/text_file.hpp"
#include "framework/eval/forced.hpp"
#include "framework/inference/translator.hpp"

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

std::string text_of(const Hypothesis& one) {
  if (!one.finished) return "\n";
  return fmt::format("{}\t{}\n", one.log_probability, fmt::join(one.log_probabilities, " "));
}

void score(const ScoreArguments& arguments) {
  const TrainedRuns runs = arguments.trained.open();
  refuse_links(runs);
  KeptAlignments kept(arguments.files, runs);
  ForcedDecoder decoder(runs, arguments.source, kept.take());
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
