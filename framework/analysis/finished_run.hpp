// A finished run as a comparison reads it, from its record alone: what it is, and its results.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "framework/analysis/run_summary.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {

// A metric over the whole test set, as the run recorded it.
struct StoredMetric {
  double value = 0;
  MetricFacts facts;
};

// By name. Empty for a record that holds no test.
std::map<std::string, StoredMetric> test_metrics(const Record& record);

using NamedFacts = std::pair<std::string, MetricFacts>;
// By name, in the order in which people look at them: those of the search behind the others.
std::vector<NamedFacts> in_order(const std::map<std::string, MetricFacts>& metrics);

struct FinishedRun {
  std::filesystem::path place;  // its folder, or a record that lies alone
  Index given = 0;              // which of several folders on a command line it came with
  std::string name;
  std::string run_id;
  std::string identity;       // canonical JSON
  std::string configuration;  // the same without the seed: runs of several seeds share it
  Index seed = 0;
  std::map<std::string, StoredMetric> test;
  MetricTable by_length;                        // as it was recorded; once read_lengths read it
  std::map<std::string, SeriesColumns> series;  // those that were asked for
  StoredResults results;  // sentence by sentence, once read_sentences read them
  std::string test_set;   // hash of its sources and references; empty for a record without a test
};

// Of the run at `place`, with these series. Throws DataError when the record cannot be read, and for a
// run that is not complete, saying how it stands.
FinishedRun finished_run(const RunSummary& summary,
                         const std::filesystem::path& place,
                         const std::vector<std::string>& series);
void read_lengths(FinishedRun& run);    // throws DataError
void read_sentences(FinishedRun& run);  // and lengths; throws DataError

// Whether this program's metric of that name gives what the run recorded, over all sentences; also where
// there is nothing to tell by. A plugin may have measured it, and another one be loaded.
bool is_measured_alike(const FinishedRun& run, const std::string& metric);
bool is_same_number(double recorded,
                    double counted);  // or undefined, which versions before recorded as 0

// An identity without its seed, and the seed. Throws DataError when it is no identity.
std::string without_seed(const std::string& identity, Index& seed);

}  // namespace softalign
