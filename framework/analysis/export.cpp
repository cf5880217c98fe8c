#include "framework/analysis/export.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "framework/analysis/comparison.hpp"
#include "framework/analysis/run_values.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/config/value.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/train/stored_results.hpp"
#include "framework/train/text_results.hpp"

namespace softalign {
namespace {

using Row = RunValues;

// Returns a run with the members that every row of it contains.
Run run_of(const std::filesystem::path& path, const Record& record) {
  Run run;
  run.path = path;
  run.run_id = record.run_id();
  run.name = record.name();
  run.identity = record.identity_json();
  read_configuration(run);
  return run;
}

// Calls read(place, record) once for each run, skipping copies. Runs that cannot be read are added to the faults.
template <class Read>
void each_record(const std::vector<std::filesystem::path>& runs, Export& out, const Read& read) {
  std::set<std::string> seen;
  for (const std::filesystem::path& place : runs) try {
      if (is_folder(place)) demand_run_folder(place);
      const Record record(place);
      if (seen.contains(record.run_id())) continue;
      read(place, record);
      seen.insert(record.run_id());
      ++out.runs;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      out.faults.push_back(message_of(error));
      out.unreadable |= !dynamic_cast<const DataError*>(&error);
    }
}

void add_series(const Record& record, const std::string& name, Row& row) {
  const SeriesColumns series = record.series(name);
  for (const auto& [column, values] : series.columns) {
    if (is_volatile(name + "/" + column)) continue;
    const std::string text = name + "/" + column;
    row[text] = value_of(series, metric_name(text));
    if (higher_is_better(column))
      row[text + ":best"] = value_of(series, metric_name(text + ":best"));
  }
}

Row row_of(const std::filesystem::path& place, const Record& record) {
  Run run = run_of(place, record);
  run.test = read_totals(record);
  run.origin = origin_of(record);
  run.status.last_update = record.last_update();
  Row row = run_values(run);
  for (const std::string& series : record.series_names())
    if (series != "train" && !is_volatile(series))
      add_series(record, series, row);  // not train: the last batch is not representative
  for (std::size_t m = 0; m < run.test.metrics.size(); ++m)
    if (const std::string& signature = run.test.facts[m].signature; !signature.empty())
      row["test/" + run.test.metrics[m] + ":signature"] = signature;
  for (const auto& [name, found] : read_findings(record))
    if (found.places.size() == 0 && found.values.size() == 1) {
      std::string column = "diagnostics/" + name;
      std::ranges::replace(column, '.', '/');
      row[column] = found.values(0);
    }
  row["state"] = record.state();
  return row;
}

// Returns the columns `first` in their order, then all other columns: options before metrics.
std::vector<std::string> columns_of(const std::vector<std::string>& first,
                                    const std::set<std::string>& all) {
  std::vector<std::string> columns = first;
  for (const bool metrics : {false, true})
    for (const std::string& name : all)
      if ((name.find('/') != name.npos) == metrics &&
          std::find(first.begin(), first.end(), name) == first.end())
        columns.push_back(name);
  return columns;
}

std::string runs_table(const std::vector<std::filesystem::path>& runs,
                       TableFormat format,
                       Export& out) {
  std::vector<Row> rows;
  each_record(runs, out, [&](const auto& place, const Record& record) {
    rows.push_back(row_of(place, record));
  });
  std::set<std::string> names;
  for (const Row& row : rows)
    for (const auto& [name, cell] : row) names.insert(name);
  const auto columns = columns_of(run_facts(), names);
  TableWriter writer(format, columns);
  for (Row& row : rows) {
    std::vector<Cell> cells;
    for (const std::string& column : columns) cells.push_back(std::move(row[column]));
    writer.row(cells);
  }
  return writer.finish();
}

std::string curves_table(const std::vector<std::filesystem::path>& runs,
                         TableFormat format,
                         Export& out) {
  TableWriter writer(format, {"run_id", "name", "seed", "series", "update", "metric", "value"});
  each_record(runs, out, [&](const auto& place, const Record& record) {
    const Run run = run_of(place, record);
    std::map<std::string, SeriesColumns> all;  // read completely before a row is written
    for (const std::string& name : record.series_names()) all[name] = record.series(name);
    for (const auto& [name, series] : all)
      for (std::size_t i = 0; i < series.updates.size(); ++i)
        for (const auto& [metric, values] : series.columns)
          if (!std::isnan(values[i]))
            writer.row(
                {run.run_id, run.name, run.seed, name, series.updates[i], metric, values[i]});
  });
  return writer.finish();
}

// Adds the columns of an array over the sentences; other arrays have no columns.
void add_columns(const Record& record,
                 const std::string& name,
                 std::map<std::string, std::vector<Cell>>& columns) {
  const Array array = record.array("test", name);
  if (array.dims.empty() || array.dims.front().name != "sentence" || array.dims.size() > 2) return;
  const auto width = usize(array.dims.size() == 2 ? array.dims[1].size : 1);
  const std::size_t digits = std::to_string(width - 1).size();  // names sort in numeric order
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const std::string column =
              array.dims.size() == 2 ? fmt::format("{}_{:0{}}", name, i % width, digits) : name;
          if constexpr (std::is_integral_v<T>)
            columns[column].emplace_back(static_cast<Index>(values[i]));
          else
            columns[column].emplace_back(values[i]);
        }
      },
      array.values);
}

// Throws DataError unless every column has one cell per sentence.
void check_lengths(const Record& record, const std::map<std::string, std::vector<Cell>>& columns) {
  const auto refuse = [&](const std::string& name) {
    throw damaged_value(record.file(), "test/" + name);
  };
  const auto sentences = columns.find("sentence");
  if (sentences == columns.end()) return refuse("sentence");
  for (const auto& [name, cells] : columns)
    if (cells.size() != sentences->second.size()) refuse(name);
}

std::string sentences_table(const std::vector<std::filesystem::path>& runs,
                            TableFormat format,
                            bool every_line,
                            Export& out) {
  struct Sentences {
    Run run;
    TextLines lines;
    std::map<std::string, std::vector<Cell>> columns;
  };
  std::vector<Sentences> all;
  std::set<std::string> names;
  each_record(runs, out, [&](const auto& place, const Record& record) {
    if (!record.has("test/sentence"))
      throw DataError("{}: holds no test results; the run is {}", place.string(), record.state());
    Sentences sentences{run_of(place, record), text_lines(record, "test"), {}};
    for (const std::string& name : record.children("test"))
      if (name != "by_length") add_columns(record, name, sentences.columns);
    check_lengths(record, sentences.columns);
    for (const auto& [name, cells] : sentences.columns) names.insert(name);
    all.push_back(std::move(sentences));
  });
  std::vector<std::string> first = {"run_id", "name", "seed", "sentence"};
  if (names.contains("line")) first.emplace_back("line");
  const auto columns = columns_of(first, names);
  TableWriter writer(format, columns);
  for (const auto& [run, lines, cells_of] : all) {
    Index written = 0;
    const auto skip_to = [&](Index line) {
      for (; every_line && written < line; ++written) {
        std::vector<Cell> cells = {run.run_id, run.name, run.seed, {}, written + 1};
        cells.resize(columns.size());
        writer.row(cells);
      }
    };
    for (std::size_t i = 0; i < cells_of.at("sentence").size(); ++i) {
      if (i < lines.numbers.size()) skip_to(lines.numbers[i] - 1);
      ++written;
      std::vector<Cell> cells = {run.run_id, run.name, run.seed};
      for (std::size_t c = cells.size(); c < columns.size(); ++c) {
        const auto found = cells_of.find(columns[c]);
        cells.push_back(found == cells_of.end() ? Cell{} : found->second.at(i));
      }
      writer.row(cells);
    }
    skip_to(lines.count);
  }
  return writer.finish();
}

}  // namespace

Export export_runs(const std::vector<std::filesystem::path>& runs,
                   ExportWhat what,
                   TableFormat format,
                   bool every_line) {
  Export out;
  out.table = what == ExportWhat::runs     ? runs_table(runs, format, out)
              : what == ExportWhat::curves ? curves_table(runs, format, out)
                                           : sentences_table(runs, format, every_line, out);
  return out;
}

}  // namespace softalign
