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

// The metrics of a table that a first look needs.
std::vector<std::string> main_metrics(const MetricTable& table);

// How the metrics were measured, then one line a length bucket that has sentences, the last for
// all. Teacher-forced metrics come first, then those of the search; a metric that no line defines
// is left out, and baselines stand beside their metrics.
std::string metrics_by_length(const MetricTable& table, const std::vector<std::string>& metrics);

// ", 28 of 30 lines"; empty where all were kept.
std::string of_lines(Index kept, Index read);
std::string of_lines(const Record& record);  // of its test set

// A line "bleu: its signature" for each metric that has one.
std::string signatures(const MetricTable& table);

}  // namespace softalign::app
