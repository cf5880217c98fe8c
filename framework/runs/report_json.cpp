#include "framework/runs/report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "framework/analysis/comparison.hpp"
#include "framework/analysis/packed_alignments.hpp"
#include "framework/analysis/report_curves.hpp"
#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/published/publish.hpp"
#include "framework/runs/results.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign {
namespace {

using Json = JsonObject;

Json json_of(const MetricFacts& facts) {
  Json json = {{"title", facts.title},
               {"units", facts.units},
               {"higher_is_better", nullptr},
               {"least", facts.least},
               {"most", facts.most},
               {"main", facts.main},
               {"searched", facts.searched},
               {"signature", facts.signature},
               {"baseline_of", facts.baseline_of}};
  if (facts.higher_is_better) json["higher_is_better"] = *facts.higher_is_better;
  return json;
}

Json json_of(const LengthTable& table) {
  std::vector<Index> fewest, most;  // of all rows
  for (std::size_t b = 0; b < table.buckets.size(); ++b) {
    std::vector<Index> least, largest;
    for (const LengthTable::Row& row : table.rows) {
      least.push_back(row.cells[b].sentences);
      largest.push_back(row.cells[b].most);
    }
    fewest.push_back(std::ranges::min(least));
    most.push_back(std::ranges::max(largest));
  }
  Json json = {{"metric", table.metric},
               {"buckets", table.buckets},
               {"sentences", fewest},
               {"most", most},
               {"rows", Json::array()}};
  for (const LengthTable::Row& row : table.rows) {
    Json cells = Json::array();
    for (const LengthCell& cell : row.cells)
      cells.push_back({{"mean", cell.over_seeds.mean},
                       {"sd", cell.over_seeds.count > 1 ? cell.over_seeds.deviation : kUndefined},
                       {"n", cell.over_seeds.count},
                       {"seeds", cell.seeds},
                       {"low", cell.interval.low},
                       {"high", cell.interval.high},
                       {"recorded", cell.recorded}});
    json["rows"].push_back({{"series", row.name}, {"cells", std::move(cells)}});
  }
  return json;
}

Json json_of(const Run& run) {
  Json json = {{"place", run.path.string()},
               {"run_id", run.run_id},
               {"name", run.name},
               {"seed", run.seed},
               {"state", run.state()},
               {"fault", run.fault},
               {"panel", run.panel},
               {"series", run.series},
               {"complete", run.complete},
               {"last_update", run.status.last_update},
               {"selected_update", run.selected},
               {"test_set", run.test_set},
               {"test", Json::object()},
               {"dev", Json::object()},
               {"signatures", Json::object()}};
  for (std::size_t m = 0; m < run.test.metrics.size(); ++m) {
    const std::string& name = run.test.metrics[m];
    json["test"][name] = run.test.at(0, m);
    json["dev"][name] = selected_value(run, name);
    if (const std::string& text = run.test.facts[m].signature; !text.empty())
      json["signatures"][name] = text;
  }
  return json;
}

Json json_of(const Panel& panel, const BootstrapOptions& draws) {
  Json json = {{"name", panel.name}, {"series", panel.series}};
  if (!panel.comparison) return json;
  json["comparison"] = comparison_json(*panel.comparison, {}, draws);
  json["tables"] = Json::array();
  for (const LengthTable& table : panel.tables) json["tables"].push_back(json_of(table));
  return json;
}

// Returns the claims of a sweep's file as it is now. Claims that cannot be read or tested are problems of the report.
Json judged_claims(Report& report) {
  try {
    const std::vector<StudyClaim> claims = claims_of(*report.list, file_of(*report.list));
    ListResults results(*report.list, *report.status);
    return claims_json(judge(claims, results));
  } catch (const Error&) {  // its message may quote a file that an untrusted plan names
    report.problems.push_back({report.list->file.string(),
                               "its claims cannot be judged; softalign sweep status says why"});
    return Json::array();
  }
}

// Returns the facts of metrics from the runs, or from this program for metrics that no run has.
Json metric_facts_json(const std::vector<Panel>& panels) {
  std::vector<const Run*> runs;
  for (const Panel& panel : panels)
    for (const Run& run : panel.runs) runs.push_back(&run);
  std::vector<NamedFacts> known;
  for (const NamedMetric& one : default_metrics())
    known.emplace_back(one.name, one.metric->facts());
  Json json = Json::object();
  for (const auto& [name, facts] : metrics_of(runs, known)) json[name] = json_of(facts);
  return json;
}

// Reads the records of the runs in detailed series. Unreadable records become problems of the report.
std::vector<Reported> read_records(Report& report) {
  std::vector<Reported> read;
  for (const Run& run : report.runs) {
    const std::string place = run.path.string();
    const fs::path file = run.record();
    const auto problem = [&](const std::string& text) { report.problems.push_back({place, text}); };
    const auto odd = [&] {
      for (const std::string& text : oddities_of(file)) problem(text);
    };
    try {
      if (!run.fault.empty() || !is_there(file)) {
        problem(!run.fault.empty()
                    ? run.fault
                    : fmt::format(
                          "no run.h5, state {}; `softalign recover` writes one from the journals",
                          run.state()));
        odd();
        continue;
      }
      if (!report.detailed.contains({run.panel, run.series})) continue;
      const Record record(file);
      const NamedSeries series = all_series(record);
      Reported one{&run, record_facts(record, series), series, findings_of(record)};
      odd();
      if (!run.twin) read.push_back(std::move(one));
      for (const Run& other : report.runs)
        if (run.twin && !other.twin && other.run_id == run.run_id && other.record() != file)
          problem("left out: the same run as in " + other.path.string());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      problem(message_of(error));
    }
  }
  return read;
}

// Returns the first seed of each series in their order, then the second seeds, ..., up to the limit.
std::vector<const Reported*> explored_runs(const std::vector<Reported>& read,
                                           const std::vector<std::string>& order,
                                           std::size_t most) {
  std::map<std::pair<std::string, std::string>, Index> seeds;  // of panel and series, so far
  std::vector<std::tuple<Index, Index, const Reported*>> ranked;
  for (const Reported& one : read)
    ranked.emplace_back(seeds[{one.run->panel, one.run->series}]++,
                        std::ranges::find(order, one.run->series) - order.begin(),
                        &one);
  std::ranges::stable_sort(
      ranked, {}, [](const auto& one) { return std::pair(std::get<0>(one), std::get<1>(one)); });
  std::vector<const Reported*> chosen;
  for (const auto& [seed, place, one] : ranked)
    if (chosen.size() < most) chosen.push_back(one);
  return chosen;
}

Json alignments_json(Report& report,
                     const std::vector<Reported>& read,
                     const std::vector<fs::path>& files,
                     const std::vector<Index>& sentences) {
  constexpr std::size_t kRuns = 60, kRows = 12;  // of a sweep, whose page has other tables
  std::map<std::string, const StoredResults*> results;
  for (const Panel& panel : report.panels)
    for (const Run& run : panel.runs) results[run.run_id] = &run.results;
  std::vector<AlignedRun> runs;
  const auto most = !sentences.empty() ? read.size() : report.kind == "sweep" ? kRows : kRuns;
  for (const Reported* one : explored_runs(read, report.series, most)) {
    const Run& run = *one->run;
    const auto known = results.find(run.run_id);
    runs.push_back({one - read.data(),
                    run.record(),
                    run.panel,
                    known == results.end() ? nullptr : known->second});
  }
  const auto shown = std::ssize(runs);
  for (const fs::path& file : files) runs.push_back({-1, file, file.string(), nullptr});
  std::vector<LeftOutAlignments> left_out;
  Json made = packed_alignments(runs, sentences, left_out);
  for (const auto& [run, text] : left_out)
    report.problems.push_back(
        {run->run < 0 ? run->file.string() : read[usize(run->run)].run->path.string(), text});
  made["runs"] = shown;
  return made;
}

// Returns the columns of a sweep's table as last written.
Json table_json(const fs::path& file) {
  const Hdf5Reader table(file);
  const auto text = [&](const std::string& path, const char* name) {
    return table.attribute<std::string>(path, name).value_or("");
  };
  if (text("", "format") != kSweepFormat)
    throw DataError("{}: not the table of a sweep, according to its attribute 'format'",
                    file.string());
  Json json = {{"place", file.string()},
               {"metric", text("", "metric")},
               {"goal", text("", "goal")},
               {"columns", Json::object()},
               {"units", Json::object()}};
  std::optional<Index> rows;
  for (const std::string& name : table.children("")) {
    if (table.is_group(name)) continue;
    const std::vector<Dimension> dims = table.dims(name);
    if (dims.size() != 1) continue;
    if (rows.value_or(dims[0].size) != dims[0].size)
      throw damaged_record(file, "its columns have different lengths");
    rows = dims[0].size;
    std::visit([&](const auto& values) { json["columns"][name] = values; }, table.read(name));
    json["units"][name] = text(name, "units");
  }
  if (!json["columns"].contains("run")) throw damaged_record(file, "it has no column 'run'");
  return json;
}

// Places that are not runs: files of alignments, tables of sweeps.
struct ReportPlaces {
  std::vector<std::string> runs;
  std::vector<fs::path> alignments;
  fs::path table;
  std::vector<LeftOut> problems;
};

ReportPlaces sorted_places(const std::vector<std::string>& given, const std::string& results) {
  ReportPlaces places;
  for (const std::string& place : given) try {
      std::error_code error;
      if (is_folder(place)) {
        if (given.size() == 1 && is_there(ListFolder{place}.table()))
          places.table = ListFolder{place}.table();
        places.runs.push_back(place);
      } else if (!fs::is_regular_file(place, error)) {
        find_run(place, results);
        places.runs.push_back(place);
      } else {
        const std::string format =
            Hdf5Reader(place).attribute<std::string>("", "format").value_or("");
        if (format == kAlignmentFormat)
          places.alignments.emplace_back(place);
        else if (format == kSweepFormat)
          places.table = place;
        else
          places.runs.push_back(place);
      }
    } catch (const Error& error) {
      places.problems.push_back({place, error.what()});
    }
  return places;
}

Json problems_json(const std::vector<LeftOut>& problems) {
  std::set<std::pair<std::string, std::string>> seen;
  Json json = Json::array();
  for (const LeftOut& problem : problems) {
    std::string text = problem.why;
    for (const std::string& place : {problem.place + "/run.h5: ", problem.place + ": "})
      if (text.starts_with(place)) text.erase(0, place.size());
    if (seen.emplace(problem.place, text).second)
      json.push_back({{"place", problem.place}, {"text", text}});
  }
  return json;
}

Json list_of(Report& report) {
  Json list = list_json(*report.list, &*report.status);
  list["claims"] = judged_claims(report);
  return list;
}

Json part_json(const Report& part, const Report& whole) {
  const std::string below = part.place + "/";
  Json json = {{"place", part.place}, {"kind", part.kind}, {"list", nullptr}, {"study", nullptr}};
  json["runs"] = std::ranges::count_if(whole.runs, [&](const Run& run) {
    return run.path.string().starts_with(normal_path(part.place).string() + "/");
  });
  if (part.list) json["list"] = list_json(*part.list, &*part.status);
  if (!part.study.empty()) json["study"] = read_json<Json>(part.study);
  return json;
}

}  // namespace

Json report_json(const std::vector<std::string>& given, const ReportOptions& options) {
  const ReportPlaces places = sorted_places(given, options.results);
  Report report = make_report(places.runs, options.results, options.draws);
  report.problems.insert(report.problems.end(), places.problems.begin(), places.problems.end());
  const std::vector<Reported> read = read_records(report);
  Json json = {{"format", "softalign-report"},
               {"format_version", 1},
               {"kind", report.kind},
               {"name", report.name},
               {"study", nullptr},
               {"series", report.series},
               {"ranked_by", report.ranked_by},
               {"resamples", options.draws.resamples},
               {"metrics", metric_facts_json(report.panels)},
               {"runs", Json::array()},
               {"not_read", 0},
               {"panels", Json::array()},
               {"alignments", alignments_json(report, read, places.alignments, options.sentences)},
               {"list", nullptr},
               {"table", nullptr},
               {"parts", Json::array()}};
  if (!report.study.empty()) json["study"] = read_json<Json>(report.study);
  for (const Panel& panel : report.panels) {
    json["panels"].push_back(json_of(panel, options.draws));
    json["panels"].back().update(
        curves_json(panel.name, report.series, read, json["metrics"], options.smooth));
  }
  for (const Reported& one : read) {
    json["runs"].push_back(json_of(*one.run));
    json["runs"].back()["record"] = one.facts;
  }
  json["not_read"] = std::ranges::count_if(report.runs, [&](const Run& run) {
    return !run.twin && !report.detailed.contains({run.panel, run.series});
  });
  if (report.list) json["list"] = list_of(report);
  if (!places.table.empty()) try {
      json["table"] = table_json(places.table);
    } catch (const Error& error) {
      report.problems.push_back({places.table.string(), error.what()});
    }
  for (const Report& part : report.parts) json["parts"].push_back(part_json(part, report));
  json["problems"] = problems_json(report.problems);
  return json;
}

}  // namespace softalign
