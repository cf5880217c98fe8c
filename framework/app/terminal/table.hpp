// Tables of metrics that several commands print.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/metric_text.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign::app {

// Returns the names of a table's main metrics, in display order.
std::vector<std::string> main_metrics(const MetricTable& table);

// Returns a line on how the metrics were measured, then a table with a row per non-empty length bucket and a last
// row for all sentences. Teacher-forced metrics come first, then those of the search. Metrics without any value
// are omitted; baselines are next to their metrics.
std::string metrics_by_length(const MetricTable& table, const std::vector<std::string>& metrics);

// Returns ", 28 of 30 lines"; "" if all lines were kept.
std::string of_lines(Index kept, Index read);
std::string of_lines(const Record& record);  // of its test set

// Returns a line "bleu: SIGNATURE" for each metric that has a signature.
std::string signatures(const MetricTable& table);

}  // namespace softalign::app
