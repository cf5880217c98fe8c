// What lists of runs, comparisons and tables of sweeps need of one run, read from its folder once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/eval/summary.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/record/run_folder.hpp"

namespace softalign {

// What is left of a curve of updates: as much as a figure shows.
inline constexpr std::size_t kCurvePoints = 500;

struct RunSummary {
  RunFolder run;
  std::string name;
  std::string run_id;
  RunStatus status;
  std::string identity;   // canonical JSON; empty where none can be read
  MetricTable test;       // of all sentences: one row, "all"; no row before there is a test
  Index selected = 0;     // update whose parameters were tested; 0 before there is a test
  bool complete = false;  // says the record
  std::string test_set;   // hash of its sources and references; empty before there is a test
  SeriesColumns dev;      // every column, as published last
  SeriesColumns train;    // the loss, thinned to kCurvePoints
  std::string fault;      // what is wrong with the run and what to do; empty when it could be read
  // With a fault: corrupt, or unreadable where the system did not let it be read, which proves no damage.
  RunState fault_state = RunState::corrupt;

  // As people read it; that of the fault when there is one.
  std::string state() const;

  // What the index remembers; a run with a fault is never there.
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
  }
};

// A run that cannot be read has a fault; nothing is thrown but std::bad_alloc. Its state is that of this moment.
RunSummary summarize_run(const RunFolder& run);
RunSummary summarize_record(const std::filesystem::path& file);  // the same of a record anywhere

// Whether a run's state can become another without any of its files changing: somebody works on it,
// or did so.
bool may_change_unseen(RunState state);

// The places of at most `most` > 1 of n values, evenly: the first and the last are among them.
std::vector<std::size_t> thinned(std::size_t n, std::size_t most = kCurvePoints);

// The value of a dev metric at the update that was selected, or before there is a test the last one;
// NaN when there is none.
double selected_value(const RunSummary& summary, const std::string& metric);
// Of a column the last value that is a number; NaN when it has none, or is not there.
double last_value(const SeriesColumns& series, const std::string& column);
// The same for the highest or the lowest value.
double best_value(const SeriesColumns& series, const std::string& column, bool highest);
// Which end of a metric is good; nothing for a name that no plugin here has registered.
std::optional<bool> higher_is_better(const std::string& metric);

}  // namespace softalign
