#include "framework/analysis/compare_runs.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/analysis/panel.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"

namespace softalign {
namespace {

// Returns `data` if the content of a run is damaged, `failed` if it could not be read.
ExitCode code_of(const std::exception& error) {
  return dynamic_cast<const DataError*>(&error) ? ExitCode::data : ExitCode::failed;
}

void read_complete(std::vector<Run> named,
                   const std::vector<std::string>& series,
                   ComparedRuns& compared) {
  for (Run& run : named) try {
      demand_complete(run);
      read_configuration(run);
      read_curves(run, series);
      compared.runs.push_back(std::move(run));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& fault) {
      const bool sound = run.fault.empty() && code_of(fault) == ExitCode::data;
      compared.left_out.push_back(
          {run.path.string(), message_of(fault), sound ? ExitCode::done : code_of(fault)});
    }
}

// Reads the sentences of the wanted runs. Returns true if some could not be read, and leaves these runs out.
bool leaves_out(ComparedRuns& compared, const std::set<const Run*>& wanted) {
  std::set<fs::path> broken;
  for (Run& run : compared.runs) try {
      if (wanted.contains(&run)) read_sentences(run);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      compared.left_out.push_back({run.path.string(), message_of(error), code_of(error)});
      broken.insert(run.path);
    }
  std::erase_if(compared.runs, [&](const Run& run) { return broken.contains(run.path); });
  return !broken.empty();
}

std::size_t left_out_by(const ComparedRuns& compared, ExitCode code) {
  return usize(std::ranges::count(compared.left_out, code, &LeftOut::code));
}

}  // namespace

ExitCode ComparedRuns::code() const {
  if (left_out_by(*this, ExitCode::failed) > 0) return ExitCode::failed;
  return left_out_by(*this, ExitCode::data) > 0 ? ExitCode::data : ExitCode::done;
}

JsonObject ComparedRuns::json() const { return comparison_json(comparison, left_out, draws); }

std::string ComparedRuns::text(ComparisonForm form) const {
  form.all_columns |= metrics_asked;
  std::string text = comparison_text(comparison, draws, form);
  if (form.format != ComparisonFormat::text) return text;
  if (too_many)
    text += fmt::format("{} groups: --baseline GROUP tests them against one\n",
                        comparison.groups.size());
  if (const std::size_t missing =
          left_out_by(*this, ExitCode::failed) + left_out_by(*this, ExitCode::data);
      missing > 0)
    text += fmt::format("INCOMPLETE: {} could not be read and {} missing here\n",
                        counted(missing, "run"),
                        missing == 1 ? "is" : "are");
  return text;
}

std::string ComparedRuns::left_out_text() const {
  constexpr std::size_t kNamed = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, left_out.size()); ++i)
    text += left_out[i].why + "\n";
  if (left_out.size() > kNamed)
    text +=
        fmt::format("and {} more left out; --json names all of them\n", left_out.size() - kNamed);
  return text;
}

ComparedRuns compare_runs(const std::vector<std::string>& places,
                          const std::string& results,
                          const CompareOptions& options) {
  std::vector<MetricName> metrics;
  if (!options.metrics.empty()) metrics = metric_names(options.metrics);
  const LengthRange lengths =
      options.lengths.empty() ? LengthRange{} : length_range(options.lengths);
  std::vector<std::string> series;
  for (const MetricName& name : metrics)
    if (!name.series.empty()) series.push_back(name.series);

  ComparedRuns compared;
  compared.draws = options.draws;
  compared.metrics_asked = !metrics.empty();
  Comparison& comparison = compared.comparison;
  read_complete(named_runs(places, results), series, compared);
  if (!lengths.all()) {
    std::set<const Run*> all;
    for (const Run& run : compared.runs) all.insert(&run);
    leaves_out(compared, all);
  }
  bool tests = options.tests;
  do {  // repeated without runs whose sentences turn out to be damaged
    if (compared.runs.empty()) break;
    comparison =
        compare(compared.runs, metrics.empty() ? main_metrics(compared.runs) : metrics, lengths);
    const bool asked = !options.baseline.empty();
    if (asked) comparison.baseline = group_named(comparison.groups, options.baseline);
    compared.too_many = options.tests && !asked && comparison.groups.size() > kTestedUnasked;
    tests = options.tests && !compared.too_many;
  } while (tests && leaves_out(compared, paired_runs(comparison)));
  if (compared.runs.empty()) {  // the message starts with the lines of the runs that were left out
    const bool unreadable = compared.code() == ExitCode::failed;
    throw Error(unreadable ? ExitCode::failed : ExitCode::data,
                fmt::format("{}{}: no run there that {}",
                            compared.left_out_text(),
                            printable(places.front(), kWhole),
                            unreadable ? "can be read" : "could be compared"));
  }
  if (!lengths.all() && comparison.sentences == 0)
    throw DataError("--length {}: no test sentence is so long; leave it out for all of them",
                    options.lengths);
  if (tests) comparison.against = against_baseline(comparison, options.draws);
  return compared;
}

}  // namespace softalign
