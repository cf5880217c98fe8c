// What a test left in a record, read back sentence by sentence: enough for every metric over any
// selection of sentences, with nothing decoded again. The counterpart of record_test.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/eval/sentence_result.hpp"
#include "framework/eval/summary.hpp"
#include "framework/record/open_record.hpp"

namespace softalign {

struct StoredResults {
  // In the order of the test set. Hypotheses are there as texts, not as tokens.
  std::vector<SentenceResult> sentences;
  // Baselines by the metric they stand beside, "pointing_accuracy_ibm_model1": what of each
  // sentence is right.
  std::map<std::string, std::vector<Count>> baselines;

  // The sentences whose source has shortest to longest tokens, as places in `sentences`.
  std::vector<Index> of_length(Index shortest, Index longest) const;
  // A registered metric or a baseline over some of the sentences, which may come more than once;
  // NaN when they do not define it. Throws SpecError for a metric that nobody knows.
  double value(const std::string& metric, const std::vector<Index>& chosen) const;
};

// The metrics over all sentences, as they were written: a table of the one row "all", without rows
// when the record holds no test. Reads no sentence.
MetricTable read_totals(const Record& record);

// Throws DataError when the record holds no test: the run is not complete.
StoredResults read_results(const Record& record);

// Every name that `value` understands: the metrics', then the baselines'.
std::vector<std::string> result_names();

}  // namespace softalign
