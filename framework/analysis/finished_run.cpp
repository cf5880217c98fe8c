#include "framework/analysis/finished_run.hpp"

#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/record/bytes.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

std::string test_set_of(const Record& record) {
  ByteWriter out;
  for (const char* name : {"source", "reference"}) {
    const Values values = record.array("test", name).values;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&values))
      for (const std::string& text : *texts) out.text(text);
  }
  return sha256_hex(out.bytes());
}

}  // namespace

std::map<std::string, StoredMetric> test_metrics(const Record& record) {
  std::map<std::string, StoredMetric> metrics;
  const MetricTable totals = read_totals(record);
  if (totals.rows.empty()) return metrics;
  for (std::size_t m = 0; m < totals.metrics.size(); ++m)
    metrics[totals.metrics[m]] = {totals.at(0, m), totals.signatures[m]};
  return metrics;
}

std::string without_seed(const std::string& identity, Index& seed) {
  Json json = Json::parse(identity, nullptr, false);
  const auto found = json.is_object() ? json.find("seed") : json.end();
  if (!json.is_object() || found == json.end() || !found->is_number_integer())
    throw DataError("its identity is damaged: no JSON object with a seed");
  seed = found->get<Index>();
  json.erase(found);
  return json.dump();
}

FinishedRun read_finished_run(const std::filesystem::path& place, const RunParts& parts) {
  const Record record(place);
  if (!record.complete())
    throw DataError("{}: the run is {}, so it is left out", place.string(), record.state());
  FinishedRun run;
  run.place = place;
  run.name = record.name();
  run.run_id = record.run_id();
  run.identity = record.identity_json();
  try {
    run.configuration = without_seed(run.identity, run.seed);
  } catch (const DataError& error) {
    throw DataError("{}: {}", record.file().string(), error.what());
  }
  run.test = test_metrics(record);
  for (const std::string& name : parts.series)
    if (record.has(name + "/update")) run.series[name] = record.series(name);
  if (!record.has("test/source_length")) return run;
  run.test_set = test_set_of(record);
  if (!parts.sentences) return run;
  run.results = read_results(record);
  for (SentenceResult& sentence : run.results.sentences) {  // no metric reads them
    sentence.hypothesis_text = {};
    sentence.reference_text = {};
  }
  return run;
}

}  // namespace softalign
