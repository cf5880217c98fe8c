// Reads the test results of a record, sentence by sentence: sufficient for every metric over any selection of
// sentences without decoding again; and the findings of diagnostics. The counterpart of ResultRecorder::test.
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
  std::vector<Array> arrays;  // doubles, at least one per update; without the axes
  std::vector<Array> axes;
};
// Returns the numbers of such an array: [updates, all other axes].
Array2d by_update(const Array& array);

// Returns the splits (dev, test, train) of all diagnostics, or of the named one.
std::vector<RecordedDiagnostic> recorded_diagnostics(const Record& record,
                                                     const std::string& wanted = "");

// An array of a diagnostic at one update, of the test sentences or else of the dev sentences.
struct StoredFinding {
  Array1d places;  // along its axis; empty: a single number
  Array1d values;

  // Returns the mean over the positions from first to last that have a value; NaN if none has.
  double mean(double first, double last) const;
};

// Returns the findings with at most one axis: "diagnostic.array" is of the last update, "diagnostic.start.array" of
// the first, if that is before training.
std::map<std::string, StoredFinding> read_findings(const Record& record);

struct StoredResults {
  CountTable counts;                           // in the order of the test set
  xt::xtensor<Index, 1> source_lengths;        // [sentences] tokens without </s>
  std::vector<Index> clusters;                 // [sentences] as in Split::clusters; empty: none
  std::map<std::string, StoredFinding> found;  // by read_findings()

  // Returns the sentences whose source has from `shortest` to `longest` tokens.
  std::vector<Index> of_length(Index shortest, Index longest) const;
  std::vector<bool> outside(Index shortest, Index longest) const;  // [sentences]
  // Returns a registered metric over some of the sentences, possibly with repetitions; NaN if it is
  // undefined for them. Throws SpecError for an unknown metric.
  double value(const std::string& metric, const std::vector<Index>& chosen) const;
};

// Returns the recorded metrics over all sentences: a table with the single row "all", or without rows if the
// record has no test. A metric that is newer than the record is computed if recorded metrics use the same
// columns; otherwise no sentence is read.
MetricTable read_totals(const Record& record);

// Like read_totals for recorded metrics, with a row per length bucket. Throws DataError if arrays differ in size.
MetricTable read_by_length(const Record& record);

// Returns an array of any numeric type; empty for texts. Throws DataError unless it has `size` numbers, if given.
Array1d numbers_in(const Record& record,
                   const std::string& group,
                   const std::string& name,
                   std::optional<std::size_t> size = {});

// Throws DataError if the record has no test, because the run is not complete.
StoredResults read_results(const Record& record);

// Returns the "source", "reference" or "hypothesis" of each test sentence, or all of its further "references" in
// turn; empty if the record has none.
std::vector<std::string> test_texts(const Record& record, const char* name);

// Returns the description of a metric. For a known metric only the signature and `main`, which spec and data
// determine, come from the record, because a record may say anything.
MetricFacts facts_in(const Record& record, const std::string& metric);

}  // namespace softalign
