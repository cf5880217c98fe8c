// Test results of a record, sentence by sentence: sufficient for every metric over any selection of sentences
// without decoding again; and the findings of diagnostics. The counterpart of ResultRecorder::test.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/eval/metric.hpp"
#include "framework/record/published/arrays.hpp"

namespace softalign {

// The findings of a diagnostic on one split: /diagnostics/<name>/<split>.
struct RecordedDiagnostic {
  std::string name, split, group;
  std::vector<Array> arrays;  // doubles, at least one of each update; not the axes
  std::vector<Array> axes;
};
// The numbers of one of its arrays: [updates, along its other axes].
Array2d by_update(const Array& array);

// Returns the splits (dev, test, train) of all diagnostics, or of the named one.
std::vector<RecordedDiagnostic> recorded_diagnostics(const Record& record,
                                                     const std::string& wanted = "");

// An array of a diagnostic at one update, of the test sentences or else of the dev sentences.
struct StoredFinding {
  Array1d places;  // along its axis; none: a single number
  Array1d values;

  // The mean over the positions from first to last that have a value; NaN where none has.
  double mean(double first, double last) const;
};

// The findings of at most one axis, by "diagnostic.array", at the last update, and "diagnostic.start.array", at
// the first where that is before training.
std::map<std::string, StoredFinding> read_findings(const Record& record);

struct StoredResults {
  CountTable counts;                           // in the order of the test set
  xt::xtensor<Index, 1> source_lengths;        // [sentences] tokens without </s>
  std::vector<Index> clusters;                 // [sentences] as Split::clusters; empty: none
  std::map<std::string, StoredFinding> found;  // as read_findings() has them

  // The sentences whose source has shortest to longest tokens.
  std::vector<Index> of_length(Index shortest, Index longest) const;
  std::vector<Index> clusters_of(const std::vector<Index>& sentences) const;  // empty: none
  // A registered metric over some of the sentences, possibly with repetitions; NaN if they do not
  // define it. Throws SpecError for an unknown metric.
  double value(const std::string& metric, const std::vector<Index>& chosen) const;
};

// The metrics over all sentences, as they were written: a table of the one row "all", without rows
// when the record holds no test. A metric that is newer than the record is computed, where a metric that
// the record has is counted by the same columns; else no sentence is read.
MetricTable read_totals(const Record& record);

// Like read_totals, with a row for each recorded length bucket. Throws DataError for other lengths.
MetricTable read_by_length(const Record& record);

// Numbers of any type; none of texts. Throws DataError unless there are `size` of them, where that is given.
Array1d numbers_in(const Record& record,
                   const std::string& group,
                   const std::string& name,
                   std::optional<std::size_t> size = {});

// Throws DataError when the record holds no test: the run is not complete.
StoredResults read_results(const Record& record);

// "source", "reference" or "hypothesis" of each test sentence, or all of its further "references" in turn;
// empty where the record has none.
std::vector<std::string> test_texts(const Record& record, const char* name);

// The description of a metric. For a known metric only the signature and `main`, which spec and data determine, come
// from the record, because a record may say anything.
MetricFacts facts_in(const Record& record, const std::string& metric);

}  // namespace softalign
