// A run as lists, comparisons, tables of sweeps and reports see it: a summary, read from its folder or its
// record once; what needs more of the record is read when it is asked for. Also the names of metrics and the
// ranges of source length that commands take.
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

// Points of a curve of updates: as many as a figure shows.
inline constexpr std::size_t kCurvePoints = 500;

struct Run {
  std::filesystem::path path;  // its folder, or a record that lies alone
  Index argument = 0;          // which argument of a command line named it, from 0

  // The summary.
  std::string name;
  std::string run_id;
  RunStatus status;
  std::string identity;   // canonical JSON; empty where none can be read
  MetricTable test;       // of all sentences: one row, "all"; no row before there is a test
  Index selected = 0;     // update whose parameters were tested; 0 before there is a test
  bool complete = false;  // according to the record
  std::string test_set;   // hash of its sources and references; empty before there is a test
  SeriesColumns dev;      // every column, as published last
  SeriesColumns train;    // the loss, thinned to kCurvePoints
  RunOrigin origin;
  std::string fault;  // what is wrong with the run and what to do; empty when it could be read
  // With a fault: corrupt, or unreadable where the system did not let it be read, which proves no damage.
  RunState fault_state = RunState::corrupt;

  // Read when they are asked for.
  std::string configuration;  // read_configuration: the identity without the seed
  Index seed = 0;
  std::map<std::string, SeriesColumns> curves;  // read_curves: whole series besides dev
  MetricTable by_length;                        // read_lengths: as it was recorded
  StoredResults results;                        // read_sentences: sentence by sentence

  // The place of the run in figures: runs of a panel share a figure, those of a series differ only in the seed.
  std::string panel, series;
  bool twin = false;  // a copy of the run is in another folder, and is complete or comes first

  // Returns the state for people, or that of the fault if there is one.
  std::string state() const;
  std::filesystem::path record() const;

  // The summary, which the index remembers; a run with a fault is never there.
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

// A run that is left out, and why.
struct LeftOut {
  std::string place;
  std::string why;
  ExitCode code =
      ExitCode::done;  // else a group may lack it: data, it is damaged; failed, it cannot be read
};

// The summary of a run in its folder, or of a record anywhere. A run that cannot be read has a fault; nothing is thrown
// but std::bad_alloc. Its state is that of this moment.
Run read_run(const std::filesystem::path& path);

// These read the rest. All throw DataError.
void read_configuration(Run& run);
void read_curves(Run& run, const std::vector<std::string>& series);
void read_lengths(Run& run);
void read_sentences(Run& run);  // and lengths; nothing for a run without a test

// An identity without its seed, and the seed. Throws DataError when it is not an identity.
std::string without_seed(const std::string& identity, Index& seed);

// Throws for a run that is not complete, giving its state: MachineError where it cannot be read, else DataError.
void demand_complete(const Run& run);

// {"name", "run_id", "folder", "state", "updates", "heartbeat", "tags", "notes", "started", "seconds", "host",
// "commit", "fault", "last", "test"}, as `ls --json` has it: without fault and test where there are none.
JsonObject run_json(const Run& run);

// Returns whether a run's state can change without any of its files changing: a process works or worked on it.
bool may_change_unseen(RunState state);

// The indices of at most `most` > 1 of n values, evenly spaced, the first and the last among them.
std::vector<std::size_t> thinned(std::size_t n, std::size_t most = kCurvePoints);

// Returns the value of a dev metric at the selected update, or before the test the last one;
// NaN if there is none.
double selected_value(const Run& run, const std::string& metric);
// The last number of a column; NaN when it has none, or is missing.
double last_value(const SeriesColumns& series, const std::string& column);
// The highest or the lowest number of a column; NaN when it has none, or is missing.
double best_value(const SeriesColumns& series, const std::string& column, bool highest);
// Which end of a metric is good; nothing for a name that no plugin here has registered.
std::optional<bool> higher_is_better(const std::string& metric);
bool in_percent(const std::string& metric);  // "bleu", "dev/bleu", and unknown ones

// The facts of metrics by name, as the first run that has one knows it; in the order in which people look at them:
// those of the search behind the others.
using NamedFacts = std::pair<std::string, MetricFacts>;
std::vector<NamedFacts> metrics_of(const std::vector<const Run*>& runs,
                                   const std::vector<NamedFacts>& others = {});

// Returns whether this program's metric of that name gives what the run recorded, over all sentences; true also
// where there is nothing to tell by. A plugin may have measured it, and another one be loaded.
bool is_measured_alike(const Run& run, const std::string& metric);
bool is_same_number(double recorded, double counted);  // or both undefined

// Metrics of tests and series, and ranges of source length, as a command line has them.

// "bleu" or "test/bleu": over the test set; "dev/loss": the last value of a series; "dev/loss:best"
// its best one.
struct MetricName {
  std::string text;    // as it is shown
  std::string series;  // empty: the test set
  std::string metric;
  bool best = false;
};
// Throws SpecError for what has another form, and for the best of a metric that has none.
MetricName metric_name(const std::string& text);
std::vector<MetricName> metric_names(const std::string& list);  // "bleu,dev/loss"

// Source lengths in tokens, both ends included: "31-50", "61+", "40", as a study's claims have them.
struct LengthRange {
  Index shortest = 0;
  Index longest = std::numeric_limits<Index>::max();
  bool all() const { return shortest == 0; }
};
LengthRange length_range(const std::string& text);  // throws SpecError

}  // namespace softalign
