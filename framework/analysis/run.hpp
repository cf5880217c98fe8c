// A run as lists, comparisons, sweep tables and reports see it: a summary that is read once from its folder or its
// record; the other data of the record are read on request. Also the metric names and the ranges of source length
// that commands take.
#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/run_origin.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/config/registry.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {

// The most points of a curve over updates that a figure shows.
inline constexpr std::size_t kCurvePoints = 500;

struct Run {
  std::filesystem::path path;  // its folder, or a record without a run folder
  Index argument = 0;          // index of the command-line argument that named it, from 0

  // The summary.
  std::string name;
  std::string run_id;
  RunStatus status;
  std::string identity;   // canonical JSON; empty if it cannot be read
  MetricTable test;       // over all sentences: one row, "all"; no row before the test
  Index selected = 0;     // update whose parameters were tested; 0 before the test
  bool complete = false;  // according to the record
  std::string test_set;   // hash of its sources and references; empty before the test
  SeriesColumns dev;      // all columns, as last published
  SeriesColumns train;    // the loss, thinned to kCurvePoints
  RunOrigin origin;
  std::string fault;  // error message and remedy; empty if the run could be read
  // With a fault: corrupt, or unreadable if the system did not allow reading, which does not prove damage.
  RunState fault_state = RunState::corrupt;

  // Read on request.
  std::string configuration;  // read_configuration: the identity without the seed
  Index seed = 0;
  std::map<std::string, SeriesColumns> curves;  // read_curves: whole series besides dev
  MetricTable by_length;                        // read_lengths: as recorded
  StoredResults results;                        // read_sentences: sentence by sentence

  // Runs of one panel share a figure; runs of one series differ only in the seed.
  std::string panel, series;
  bool twin = false;  // another folder holds a copy of the run that is complete or comes first

  // Returns the state in words: `fault_state` for a run with a fault.
  std::string state() const;
  std::filesystem::path record() const;

  // The summary as the index stores it; the index never contains a run with a fault.
  template <class V>
  void describe(V& v) {
    v("name", name);
    v("run_id", run_id);
    v("status", status);
    v("owner", status.owner);
    v("identity", identity);
    v("test", test);
    v("selected", selected);
    v("complete", complete);
    v("test_set", test_set);
    v("dev", dev);
    v("train", train);
    v("origin", origin);
  }
};

// A run that is left out, with the reason.
struct LeftOut {
  std::string place;
  std::string why;
  ExitCode code =
      ExitCode::done;  // data: damaged, failed: unreadable; a group may then lack this run
};

// Returns the summary of a run in its folder, or of a single record, with its current state. A run that cannot be read
// has a fault; only std::bad_alloc is thrown.
Run read_run(const std::filesystem::path& path);

// These read the members that are not in the summary. All throw DataError.
void read_configuration(Run& run);
void read_curves(Run& run, const std::vector<std::string>& series);
void read_lengths(Run& run);
void read_sentences(Run& run);  // also the lengths; does nothing for a run without a test

// Returns an identity without its seed, and sets `seed`. Throws DataError if the text is not an identity.
std::string without_seed(const std::string& identity, Index& seed);

// Throws for a run that is not complete, naming its state: MachineError if it cannot be read, else DataError.
void demand_complete(const Run& run);

// {"name", "run_id", "folder", "state", "updates", "heartbeat", "tags", "notes", "started", "seconds", "host",
// "commit", "fault", "last", "test"}, as `ls --json` prints it; fault and test are absent if the run has none.
JsonObject run_json(const Run& run);

// Returns whether a run's state can change while its files do not: a process works or worked on it.
bool may_change_unseen(RunState state);

// Returns the indices of at most `most` > 1 of n values, evenly spaced, including the first and the last.
std::vector<std::size_t> thinned(std::size_t n, std::size_t most = kCurvePoints);

// Returns the value of a dev metric at the selected update, or before the test its last value;
// NaN if it has none.
double selected_value(const Run& run, const std::string& metric);
// Returns the last number of a column; NaN if the column is missing or has no numbers.
double last_value(const SeriesColumns& series, const std::string& column);
// Returns the highest or the lowest number of a column; NaN if the column is missing or has no numbers.
double best_value(const SeriesColumns& series, const std::string& column, bool highest);
// Returns nothing for a metric that no loaded plugin has registered, or that has no better direction.
std::optional<bool> higher_is_better(const std::string& metric);
bool in_percent(const std::string& metric);  // true for "bleu", "dev/bleu", and unknown metrics

// Returns the metrics of the runs and the `others`, with the facts of the first run that has the metric, in display
// order: metrics that need a search come last.
using NamedFacts = std::pair<std::string, MetricFacts>;
std::vector<NamedFacts> metrics_of(const std::vector<const Run*>& runs,
                                   const std::vector<NamedFacts>& others = {});

// Returns whether the loaded metric of that name reproduces the recorded value over all sentences; true also if this
// cannot be checked. The value may come from a plugin other than the loaded one.
bool is_measured_alike(const Run& run, const std::string& metric);
bool is_same_number(double recorded, double counted);  // equal up to rounding, or both undefined

// Metrics of tests and series, and ranges of source length, as written on a command line.

// "bleu" or "test/bleu": over the test set; "dev/loss": the last value of a series; "dev/loss:best":
// its best value.
struct MetricName {
  std::string text;    // as displayed
  std::string series;  // empty: the test set
  std::string metric;
  bool best = false;
};
// Throws SpecError for any other form, and for ":best" if it is unknown which values are better.
MetricName metric_name(const std::string& text);
std::vector<MetricName> metric_names(const std::string& list);  // "bleu,dev/loss"

// Source lengths in tokens, both ends included: "31-50", "61+", "40", as in the claims of a study.
struct LengthRange {
  Index shortest = 0;
  Index longest = std::numeric_limits<Index>::max();
  bool all() const { return shortest == 0; }
};
LengthRange length_range(const std::string& text);  // throws SpecError

}  // namespace softalign
