// softalign compare [RUN|FOLDER..]: compares runs side by side, grouped over seeds, and each group with a
// baseline. A run that cannot be read is named, and the table is marked as incomplete.
#include <unistd.h>
#include <map>

#include "framework/analysis/compare_runs.hpp"
#include "framework/app/command.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/plugin_loader.hpp"

namespace softalign::app {
namespace {

constexpr const char* kCompareExample =
    R"(softalign compare results/reverse --metric bleu,dev/loss --baseline score=dot

Runs that differ only in the seed form a group. The first table shows the parameters
in which the groups differ, and each metric over the seeds. The second compares every
group with the baseline: the mean difference over pairs of runs with the same seed, its
95 % interval, p, and p corrected for the number of groups (Holm); interval and p
account for other seeds and other test sentences, so a single pair of runs has no p.
The baseline is the first group without attention, else the first group; --baseline
selects another. It is never chosen by its score, which would make p too small.
Incomplete runs are reported and left out. If a run cannot be read, the table is marked
as incomplete and the exit status is not 0.)";

const std::map<std::string, ComparisonFormat> kComparisonFormats = {
    {"text", ComparisonFormat::text},
    {"markdown", ComparisonFormat::markdown},
    {"latex", ComparisonFormat::latex},
    {"csv", ComparisonFormat::csv}};

struct CompareArguments {
  RunsArgument runs{.places = {"results"}};
  CompareOptions options;
  std::vector<std::string> plugins;
  int threads = 0;
  bool no_tests = false;
  std::string format = "text";
  bool json = false;
};

ExitCode compare_and_print(CompareArguments& arguments) {
  for (const std::string& plugin : arguments.plugins) load_plugin(plugin);
  arguments.options.tests = !arguments.no_tests;
  arguments.options.draws.threads = resolve_thread_count(arguments.threads);
  const ComparedRuns compared =
      compare_runs(arguments.runs.places, arguments.runs.results, arguments.options);
  if (arguments.json)
    print_json(compared.json());
  else if (const ComparisonFormat format = kComparisonFormats.at(arguments.format);
           format == ComparisonFormat::text)
    write_table(
        compared.text({.width = terminal_columns(STDOUT_FILENO)}),
        [](std::string_view cell) { return cell.size() > 1 && cell.ends_with('*') ? "1" : ""; });
  else
    write_data(compared.text({.format = format}));
  if (!arguments.json || compared.code() != ExitCode::done) print_error(compared.left_out_text());
  return compared.code();
}

}  // namespace

void add_compare(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command =
      add_command(app,
                  "compare",
                  "compare runs: mean and deviation over seeds, tests against a baseline",
                  "Records",
                  kCompareExample);
  arguments->runs.add_to(*command)->capture_default_str();
  command->add_option(
      "--metric",
      arguments->options.metrics,
      "metrics of the test set (bleu,token_accuracy), the last value of a series (dev/loss) or its "
      "best (dev/loss:best); default: the main metrics of the test set");
  command->add_option("--baseline",
                      arguments->options.baseline,
                      "the group to compare with: its number, 'KEY=VALUE ..' of its parameters, a "
                      "value, or the id (its beginning will do) or name of a run (default: the "
                      "group without attention, else the first)");
  command->add_option("--length",
                      arguments->options.lengths,
                      "only test sentences of this source length: 31-50, 61+ or 40, counted in the "
                      "runs' evaluate.length_unit");
  command
      ->add_option("--resamples",
                   arguments->options.draws.resamples,
                   "number of bootstrap samples of the test sentences")
      ->check(integer(between(1, 10'000'000)))
      ->capture_default_str();
  command
      ->add_flag("--no-tests", arguments->no_tests, "print only the table of groups, without tests")
      ->excludes("--resamples");
  add_plugin_option(*command, arguments->plugins, kMetricsOfPlugins);
  add_threads_option(*command, arguments->threads);
  command
      ->add_option("--format",
                   arguments->format,
                   "text, or only the table of groups as markdown, latex (booktabs) or csv")
      ->check(CLI::IsMember({"text", "markdown", "latex", "csv"}))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "print everything as JSON");
  command->callback([arguments, &outcome] { outcome.code = compare_and_print(*arguments); });
}

}  // namespace softalign::app
