#include "framework/analysis/sweep_index.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/json.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/record/published/publish.hpp"

namespace softalign {
namespace {

constexpr int kTableVersion = 1;

// HDF5 strings are UTF-8 and end at a NUL; names of folders may have other bytes, which are escaped.
std::string text_of(const std::string& bytes) {
  return is_text(bytes) ? bytes : printable(bytes, kWhole);
}

class Writer {
 public:
  explicit Writer(const SweepTable& table)
      : table_(table), dims_{{"run", std::ssize(table.rows)}} {}

  std::string image() {
    file_.attributes("",
                     {{"format", kSweepFormat},
                      {"format_version", kTableVersion},
                      {"name", text_of(table_.name)},
                      {"metric", text_of(table_.metric)},
                      {"goal", text_of(table_.goal)}});
    if (!table_.rows.empty()) {
      write_rows();
      write_parameters();
      write_dev();
      write_test();
      write_curves(file_, table_);
    }
    return file_.image();
  }

 private:
  // Writes a dataset with a number or a text for each row.
  template <class T, class Of>
  void column(const std::string& name, const Of& of, const JsonObject& attributes = {}) {
    std::vector<T> values;
    for (const SweepTable::Row& row : table_.rows) values.push_back(of(row));
    file_.dataset(name, dims_, values);
    if (!attributes.empty()) file_.attributes(name, attributes);
  }

  void write_rows() {
    column<Index>("run",
                  [](const SweepTable::Row& row) { return row.k; },
                  {{"long_name", "row of the plan"}});
    column<std::string>("run_id", [](const SweepTable::Row& row) { return text_of(row.run_id); });
    column<std::string>("path", [](const SweepTable::Row& row) { return text_of(row.path); });
    column<std::string>("state", [](const SweepTable::Row& row) { return text_of(row.state); });
    column<Index>("seed", [](const SweepTable::Row& row) { return row.seed; });
    column<Index>("updates", [](const SweepTable::Row& row) {
      return row.run ? row.run->status.last_update : 0;
    });
    column<double>("value",
                   [&](const SweepTable::Row& row) {
                     return row.run ? selected_value(
                                          *row.run,
                                          table_.metric.substr(std::string_view("dev/").size()))
                                    : kUndefined;
                   },
                   {{"long_name", table_.metric + ", as rows are ranked by it"}});
  }

  void write_parameters() {
    std::vector<std::string> paths;  // in order of first appearance
    std::map<std::string, bool> are_numbers;
    for (const SweepTable::Row& row : table_.rows)
      for (const SweepTable::Parameter& parameter : row.parameters) {
        const auto [at, first] = are_numbers.try_emplace(parameter.path, true);
        at->second = at->second && parameter.is_number;
        if (first && parameter.path != "seed") paths.push_back(parameter.path);  // seed: write_rows
      }
    for (const std::string& path : paths) {
      const auto text = [&](const SweepTable::Row& row) {
        for (const SweepTable::Parameter& parameter : row.parameters)
          if (parameter.path == path) return text_of(parameter.value);
        return std::string();
      };
      if (are_numbers.at(path))
        column<double>(path, [&](const SweepTable::Row& row) { return number_of(text(row)); });
      else
        column<std::string>(path, text);
    }
  }

  static double number_of(const std::string& text) {
    if (text.empty()) return kUndefined;
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size())
      throw BugError("'{}' is no number, as the plan says", text);
    return value;
  }

  void write_dev() {
    for (const std::string& metric : dev_columns(table_)) {
      const auto of_dev = [&](const auto& value) {
        return
            [&](const SweepTable::Row& row) { return row.run ? value(row.run->dev) : kUndefined; };
      };
      column<double>("dev_" + metric,
                     of_dev([&](const SeriesColumns& dev) { return last_value(dev, metric); }),
                     {{"long_name", "last value on the dev split"}});
      std::optional<bool> highest = higher_is_better(metric);
      if ("dev/" + metric == table_.metric) highest = table_.goal == "maximize";
      if (!highest) continue;
      column<double>(
          "dev_" + metric + "_best",
          of_dev([&](const SeriesColumns& dev) { return best_value(dev, metric, *highest); }),
          {{"long_name",
            *highest ? "highest value on the dev split" : "lowest value on the dev split"}});
    }
  }

  void write_test() {
    struct About {
      std::string units;
      std::vector<std::string> signatures;  // unique; values with different ones are not comparable
    };
    std::map<std::string, About> metrics;
    for (const SweepTable::Row& row : table_.rows) {
      if (!row.run) continue;
      const MetricTable& test = row.run->test;
      for (std::size_t m = 0; m < test.metrics.size(); ++m) {
        About& about = metrics[test.metrics[m]];
        const MetricFacts& facts = test.facts[m];
        about.units = facts.units;
        auto& all = about.signatures;
        if (!facts.signature.empty() && std::ranges::find(all, facts.signature) == all.end())
          all.push_back(facts.signature);
      }
    }
    for (const auto& [metric, about] : metrics) {
      JsonObject attributes = {{"long_name", "over all sentences of the test split"}};
      if (!about.units.empty()) attributes["units"] = about.units;
      if (about.signatures.size() == 1) attributes["signature"] = about.signatures[0];
      if (about.signatures.size() > 1) attributes["signature"] = about.signatures;
      column<double>(
          "test_" + metric,
          [&name = metric](const SweepTable::Row& row) { return test_value(row, name); },
          attributes);
    }
  }

  static double test_value(const SweepTable::Row& row, const std::string& metric) {
    return row.run ? row.run->test.find("all", metric) : kUndefined;
  }

  const SweepTable& table_;
  std::vector<Dimension> dims_;
  Hdf5Writer file_;
};

bool holds(const std::filesystem::path& file, const std::string& bytes) {
  try {
    return std::filesystem::exists(file) && read_file(file) == bytes;
  } catch (const DataError&) {
    return false;
  }
}

bool is_sweep_table(const std::filesystem::path& file) {
  try {
    return Hdf5Reader(file).attributes("").value("format", "") == kSweepFormat;
  } catch (const DataError&) {
    return false;
  } catch (const JsonObject::exception&) {
    return false;
  }
}

}  // namespace

bool write_sweep_index(const std::filesystem::path& file,
                       const SweepTable& table,
                       FileSystem& files) {
  const std::string bytes = Writer(table).image();
  check_replaceable(file, is_sweep_table);
  if (holds(file, bytes)) return false;
  files.write_atomically(file, bytes, [&](const std::filesystem::path& temporary) {
    if (!holds(temporary, bytes))
      throw MachineError("{}: was not written whole", temporary.string());
  });
  return true;
}

namespace {

// Returns the updates at which a run has any value, in ascending order.
std::vector<Index> steps_of(const SweepTable::Row& row) {
  if (!row.run) return {};
  const auto &dev = row.run->dev.updates, &train = row.run->train.updates;
  std::vector<Index> steps;
  std::set_union(dev.begin(), dev.end(), train.begin(), train.end(), std::back_inserter(steps));
  return steps;
}

// Writes a run's values of a column to the beginning of `to`, one for each of its steps.
void spread(const std::vector<Index>& steps,
            const SeriesColumns& series,
            const std::string& column,
            double* to) {
  const auto values = series.columns.find(column);
  if (values == series.columns.end()) return;
  std::size_t i = 0;
  for (const Index step : steps) {
    if (i < series.updates.size() && series.updates[i] == step) *to = values->second[i++];
    ++to;
  }
}

}  // namespace

std::set<std::string> dev_columns(const SweepTable& table) {
  std::set<std::string> columns;
  for (const SweepTable::Row& row : table.rows)
    if (row.run)
      for (const auto& [name, values] : row.run->dev.columns)
        if (!is_volatile("dev/" + name)) columns.insert(name);
  return columns;
}

void write_curves(Hdf5Writer& file, const SweepTable& table) {
  std::vector<std::vector<Index>> steps;
  std::size_t longest = 0;
  for (const SweepTable::Row& row : table.rows) {
    steps.push_back(steps_of(row));
    longest = std::max(longest, steps.back().size());
  }
  if (longest == 0) return;

  const std::vector<Dimension> dims = {{"run", std::ssize(table.rows)},
                                       {"step", static_cast<Index>(longest)}};
  std::vector<Index> rows, updates(steps.size() * longest, -1);
  for (std::size_t r = 0; r < steps.size(); ++r) {
    rows.push_back(table.rows[r].k);
    std::copy(steps[r].begin(),
              steps[r].end(),
              updates.begin() + static_cast<std::ptrdiff_t>(r * longest));
  }
  file.dataset("curves/run", {dims[0]}, rows);
  file.dataset("curves/update", dims, updates);
  const auto curve = [&](const std::string& name, const auto& series, const std::string& column) {
    std::vector<double> values(updates.size(), kUndefined);
    for (std::size_t r = 0; r < steps.size(); ++r)
      if (const auto& run = table.rows[r].run)
        spread(steps[r], (*run).*series, column, values.data() + r * longest);
    file.dataset("curves/" + name, dims, values);
  };
  for (const std::string& column : dev_columns(table)) curve("dev_" + column, &Run::dev, column);
  std::set<std::string> train;
  for (const SweepTable::Row& row : table.rows)
    if (row.run)
      for (const auto& [name, values] : row.run->train.columns) train.insert(name);
  for (const std::string& column : train) curve("train_" + column, &Run::train, column);
}

}  // namespace softalign
