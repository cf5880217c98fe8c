// softalign compare [RUN|FOLDER..]: runs beside each other, those of several seeds as one, and every
// group of them against a baseline. A run that cannot be read is named, and its absence marked.
#include <algorithm>
#include <map>
#include <set>

#include "framework/analysis/comparison.hpp"
#include "framework/analysis/run_index.hpp"
#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/records/records.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/plugin_loader.hpp"

namespace softalign::app {
namespace {

constexpr const char* kCompareExample =
    R"(softalign compare results/reverse --metric bleu,dev/loss --baseline score=dot

Runs that differ in nothing but the seed are one group. The first table has the
parameters in which groups differ, and the metrics over the seeds. In the second
every group stands against the baseline, in two ways that are never mixed:
  over the seeds      difference: mean and deviation over pairs of runs of one
                      seed; training varies
  over the sentences  test set, p: the trained models are fixed; several seeds
                      are one system, scored by their mean
Trust a difference that stands out in both; one pair of runs has no p. The
baseline is the group without attention (vanilla), where there is one, or else
the first; --baseline names another. It is not the best one, since p-values
against what was chosen by its own score are too small.
Runs that are not complete are named and left out. If some cannot be read, the
table says that it is incomplete, and the exit status is not 0.)";

struct CompareArguments {
  RunsArgument runs{.places = {"results"}};
  std::string metrics;
  std::string baseline;
  std::string lengths;
  std::vector<std::string> plugins;
  PairedTestOptions draws;
  int threads = 0;
  bool no_tests = false;
  bool json = false;
};

struct Runs {
  std::vector<Run> complete;
  std::vector<LeftOut> left_out;
};

// Data: what was read is wrong; failed: it could not be read.
ExitCode code_of(const std::exception& error) {
  return dynamic_cast<const DataError*>(&error) ? ExitCode::data : ExitCode::failed;
}

Runs read_runs(const CompareArguments& arguments, const std::vector<std::string>& series) {
  Runs runs;
  for (Run& run : named_runs(arguments.runs.places, arguments.runs.results)) try {
      demand_complete(run);
      read_configuration(run);
      read_curves(run, series);
      runs.complete.push_back(std::move(run));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& fault) {
      const bool sound = run.fault.empty() && code_of(fault) == ExitCode::data;
      runs.left_out.push_back(
          {run.path.string(), message_of(fault), sound ? ExitCode::done : code_of(fault)});
    }
  return runs;
}

// Reads the sentences of these runs. Those that cannot be read are left out: then true.
bool leaves_out(Runs& runs, const std::set<const Run*>& wanted) {
  std::set<fs::path> broken;
  for (Run& run : runs.complete) try {
      if (wanted.contains(&run)) read_sentences(run);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      runs.left_out.push_back({run.path.string(), message_of(error), code_of(error)});
      broken.insert(run.path);
    }
  std::erase_if(runs.complete, [&](const Run& run) { return broken.contains(run.path); });
  return !broken.empty();
}

std::string too_many_groups(const Comparison& comparison) {
  return fmt::format("{} groups: --baseline GROUP tests them against one\n",
                     comparison.groups.size());
}

// Failed or data where runs that may belong into the comparison cannot be read, or are damaged.
ExitCode compare_runs(const CompareArguments& arguments) {
  for (const std::string& plugin : arguments.plugins) load_plugin(plugin);
  std::vector<MetricName> metrics;
  if (!arguments.metrics.empty()) metrics = metric_names(arguments.metrics);
  const LengthRange lengths =
      arguments.lengths.empty() ? LengthRange{} : length_range(arguments.lengths);
  std::vector<std::string> series;
  for (const MetricName& name : metrics)
    if (!name.series.empty()) series.push_back(name.series);

  Runs runs = read_runs(arguments, series);
  if (!lengths.all()) {
    std::set<const Run*> all;
    for (const Run& run : runs.complete) all.insert(&run);
    leaves_out(runs, all);
  }
  Comparison comparison;
  bool many = false;
  do {  // again without those whose sentences turn out to be damaged
    if (runs.complete.empty()) break;
    comparison =
        compare(runs.complete, metrics.empty() ? main_metrics(runs.complete) : metrics, lengths);
    const bool asked = !arguments.baseline.empty();
    if (asked) comparison.baseline = group_named(comparison.groups, arguments.baseline);
    many = !asked && comparison.groups.size() > kTestedUnasked;
  } while (!arguments.no_tests && !many && leaves_out(runs, paired_runs(comparison)));
  std::string left_out;
  constexpr std::size_t kNamed = 5;
  for (std::size_t i = 0; i < std::min(kNamed, runs.left_out.size()); ++i)
    left_out += runs.left_out[i].why + "\n";
  if (runs.left_out.size() > kNamed)
    left_out += fmt::format("and {} more left out; --json names all of them\n",
                            runs.left_out.size() - kNamed);
  const auto left_out_by = [&](ExitCode code) {
    return std::ranges::count(runs.left_out, code, &LeftOut::code);
  };
  const auto unreadable = left_out_by(ExitCode::failed), damaged = left_out_by(ExitCode::data);
  if (runs.complete.empty()) {
    print_error(left_out);
    if (unreadable > 0)
      throw MachineError("{}: no run there that can be read", arguments.runs.places.front());
    throw DataError("{}: no run there that could be compared", arguments.runs.places.front());
  }
  if (!lengths.all() && comparison.sentences == 0)
    throw DataError("--length {}: no test sentence is so long; leave it out for all of them",
                    arguments.lengths);
  PairedTestOptions draws = arguments.draws;
  draws.threads = resolve_thread_count(arguments.threads);
  if (!arguments.no_tests && !many) comparison.against = against_baseline(comparison, draws);
  const ExitCode code = unreadable > 0 ? ExitCode::failed
                        : damaged > 0  ? ExitCode::data
                                       : ExitCode::done;
  if (arguments.json) {
    print_json(comparison_json(comparison, runs.left_out, draws));
    if (code != ExitCode::done) print_error(left_out);
    return code;
  }
  print_text("{}", comparison_text(comparison, draws));
  if (!arguments.no_tests && many) print_text("{}", too_many_groups(comparison));
  if (const auto missing = unreadable + damaged; missing > 0)
    print_text("INCOMPLETE: {} could not be read and {} missing here\n",
               counted(missing, "run"),
               missing == 1 ? "is" : "are");
  print_error(left_out);
  return code;
}

}  // namespace

void add_compare(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command =
      add_command(app,
                  "compare",
                  "runs beside each other: mean and deviation over seeds, tests against a baseline",
                  "Records",
                  kCompareExample);
  arguments->runs.add_to(*command)->capture_default_str();
  command->add_option("--metric",
                      arguments->metrics,
                      "bleu,token_accuracy: of the test; dev/loss: the last of a series, "
                      "dev/loss:best (default: the main ones of the test)");
  command->add_option("--baseline",
                      arguments->baseline,
                      "a group: its number, KEY=VALUE of its parameters (in quotes: several), a "
                      "value, the beginning of a run's id, or a run's name (default: the one "
                      "without attention, or the first)");
  command->add_option("--length",
                      arguments->lengths,
                      "only test sentences of source length 31-50, 61+ or 40, as the runs count "
                      "(evaluate.length_unit)");
  command->add_option("--trials", arguments->draws.trials, "of approximate randomisation")
      ->check(integer(between(1, 10'000'000)))
      ->capture_default_str();
  command->add_option("--resamples", arguments->draws.resamples, "of the bootstrap")
      ->check(integer(between(1, 10'000'000)))
      ->capture_default_str();
  command->add_flag("--no-tests", arguments->no_tests, "only the table of groups")
      ->excludes("--trials")
      ->excludes("--resamples");
  add_plugin_option(*command, arguments->plugins, kMetricsOfPlugins);
  add_threads_option(*command, arguments->threads);
  command->add_flag("--json", arguments->json, "print it all as JSON");
  command->callback([arguments, &outcome] { outcome.code = compare_runs(*arguments); });
}

}  // namespace softalign::app
