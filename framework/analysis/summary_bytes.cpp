#include "framework/analysis/summary_bytes.hpp"

#include "framework/record/journal/bytes.hpp"

namespace softalign {
namespace {

void put(ByteWriter& out, const RunStatus& status) {
  out.text(to_string(status.state));
  out.number(status.attempt);
  out.number(status.last_update);
  out.number(status.updates);
  out.number<std::uint64_t>(status.metrics.size());
  for (const auto& [name, value] : status.metrics) {
    out.text(name);
    out.number(value);
  }
  out.number(status.heartbeat);
  out.text(status.owner);
}

void put(ByteWriter& out, const MetricFacts& facts) {
  out.text(facts.title);
  out.text(facts.units);
  out.number<std::uint8_t>(!facts.higher_is_better ? 2 : *facts.higher_is_better ? 1 : 0);
  out.number(facts.least);
  out.number(facts.most);
  out.number<std::int64_t>(facts.place);
  out.number<std::uint8_t>(facts.main ? 1 : 0);
  out.number<std::uint8_t>(facts.searched ? 1 : 0);
  out.text(facts.signature);
  out.text(facts.baseline_of);
}

MetricFacts facts_from(ByteReader& in) {
  MetricFacts facts;
  facts.title = in.text();
  facts.units = in.text();
  const auto direction = in.number<std::uint8_t>();
  facts.higher_is_better = direction > 1 ? std::nullopt : std::optional(direction == 1);
  facts.least = in.number<double>();
  facts.most = in.number<double>();
  facts.place = static_cast<int>(in.number<std::int64_t>());
  facts.main = in.number<std::uint8_t>() != 0;
  facts.searched = in.number<std::uint8_t>() != 0;
  facts.signature = in.text();
  facts.baseline_of = in.text();
  return facts;
}

void put(ByteWriter& out, const MetricTable& table) {
  out.list(table.rows);
  out.list(table.sentences);
  out.list(table.metrics);
  for (const MetricFacts& facts : table.facts) put(out, facts);
  out.list(table.values);
}

void put(ByteWriter& out, const SeriesColumns& series) {
  out.list(series.updates);
  out.number<std::uint64_t>(series.columns.size());
  for (const auto& [name, values] : series.columns) {
    out.text(name);
    out.list(values);
  }
}

RunStatus status_from(ByteReader& in) {
  RunStatus status;
  const std::optional<RunState> state = run_state(in.text());
  if (!state) throw DataError("an unknown state of a run");
  status.state = *state;
  status.attempt = in.number<Index>();
  status.last_update = in.number<Index>();
  status.updates = in.number<Index>();
  for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
    std::string name = in.text();
    status.metrics.emplace_back(std::move(name), in.number<double>());
  }
  status.heartbeat = in.number<double>();
  status.owner = in.text();
  return status;
}

MetricTable table_from(ByteReader& in) {
  MetricTable table;
  table.rows = in.list<std::string>();
  table.sentences = in.list<Index>();
  table.metrics = in.list<std::string>();
  for (std::size_t m = 0; m < table.metrics.size(); ++m) table.facts.push_back(facts_from(in));
  table.values = in.list<double>();
  return table;
}

SeriesColumns series_from(ByteReader& in) {
  SeriesColumns series;
  series.updates = in.list<Index>();
  for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
    std::string name = in.text();
    series.columns.emplace_hint(series.columns.end(), std::move(name), in.list<double>());
  }
  return series;
}

}  // namespace

std::string pack(const RunSummary& summary) {
  ByteWriter out;
  out.text(summary.name);
  out.text(summary.run_id);
  put(out, summary.status);
  out.text(summary.identity);
  put(out, summary.test);
  out.number(summary.selected);
  out.number<std::uint8_t>(summary.complete ? 1 : 0);
  out.text(summary.test_set);
  put(out, summary.dev);
  put(out, summary.train);
  out.text(summary.fault);
  return out.bytes();
}

RunSummary unpack(std::string_view bytes) {
  ByteReader in(bytes);
  RunSummary summary;
  summary.name = in.text();
  summary.run_id = in.text();
  summary.status = status_from(in);
  summary.identity = in.text();
  summary.test = table_from(in);
  summary.selected = in.number<Index>();
  summary.complete = in.number<std::uint8_t>() != 0;
  summary.test_set = in.text();
  summary.dev = series_from(in);
  summary.train = series_from(in);
  summary.fault = in.text();
  if (in.left() > 0) throw DataError("more than a run's summary");
  return summary;
}

}  // namespace softalign
