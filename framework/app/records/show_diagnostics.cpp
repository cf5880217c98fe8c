#include "framework/app/records/records.hpp"

#include <algorithm>
#include <cmath>

#include "framework/app/terminal/table.hpp"
#include "framework/base/text.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign::app {
namespace {

const std::string kGroup{kDiagnosticsGroup};

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-";
}

std::string place(const RecordedDiagnostic& found, const std::string& axis, Index i) {
  const auto known = std::ranges::find(found.axes, axis, &Array::name);
  return known == found.axes.end()
             ? fmt::format("{}", i)
             : std::visit([&](const auto& list) { return fmt::format("{}", list.at(usize(i))); },
                          known->values);
}

// Returns a table of the values along one axis at the last update.
std::string along(const RecordedDiagnostic& found, const std::string& axis) {
  std::vector<Table::Column> columns{{axis}};
  std::vector<const Array*> arrays;
  for (const Array& array : found.arrays)
    if (array.dims.size() == 2 && array.dims[1].name == axis) {
      arrays.push_back(&array);
      columns.push_back({array.name, Side::right});
    }
  if (arrays.empty()) return "";
  Table table(columns);
  const Index size = arrays.front()->dims[1].size, last = arrays.front()->dims[0].size - 1;
  for (Index i = 0; i < size; ++i) {
    std::vector<std::string> cells{place(found, axis, i)};
    bool any = false;
    for (const Array* array : arrays) {
      const double value = by_update(*array)(last, i);
      any |= std::isfinite(value);
      cells.push_back(number_text(value));
    }
    if (any) table.row(std::move(cells));
  }
  return table.empty()
             ? ""
             : fmt::format("\nat update {}\n{}", place(found, "update", last), table.fitted());
}

std::string table_by_update(const RecordedDiagnostic& found) {
  std::vector<Table::Column> columns{{"update", Side::right}};
  std::vector<const Array*> arrays;
  for (const Array& array : found.arrays)
    if (array.dims.size() == 1) {
      arrays.push_back(&array);
      columns.push_back({array.name, Side::right});
    }
  if (arrays.empty()) return "";
  const Index updates = arrays.front()->dims[0].size;
  if (updates == 1) {
    Table table({{"at update " + place(found, "update", 0)}, {"", Side::right}});
    for (const Array* array : arrays)
      table.row({array->name, number_text(by_update(*array)(0, 0))});
    return table.fitted();
  }
  Table table(columns);
  for (Index i = 0; i < updates; ++i) {
    std::vector<std::string> cells{place(found, "update", i)};
    for (const Array* array : arrays) cells.push_back(number_text(by_update(*array)(i, 0)));
    table.row(std::move(cells));
  }
  return table.fitted();
}

}  // namespace

std::string diagnostics_summary(const Record& record) {
  Table table({{"diagnostic"}, {"split"}, {"what"}, {"first", Side::right}, {"last", Side::right}});
  for (const RecordedDiagnostic& found : recorded_diagnostics(record))
    for (const Array& array : found.arrays) {
      if (array.dims.size() > 1) continue;
      const Array2d values = by_update(array);
      table.row({found.name,
                 found.split,
                 array.name,
                 values.size() > 1 ? number_text(values(0, 0)) : "",
                 number_text(values(values.shape(0) - 1, 0))});
    }
  return table.empty() ? ""
                       : "\n" + table.fitted() +
                             fmt::format("softalign show {} --diagnostic NAME shows all of one\n",
                                         record.run_id());
}

std::string diagnostic_tables(const Record& record, const std::string& name) {
  const std::vector<RecordedDiagnostic> all = recorded_diagnostics(record, name);
  if (all.empty()) {
    const std::vector<std::string> names =
        record.has(kGroup) ? record.children(kGroup) : std::vector<std::string>{};
    throw SpecError("--diagnostic {}: this record has no such diagnostic{}",
                    printable(name),
                    names.empty() ? "; a spec names diagnostics under `diagnostics:`"
                                  : suggestion(name, names));
  }
  std::string out;
  for (const RecordedDiagnostic& found : all) {
    out += fmt::format("{}{}, {} sentences\n", out.empty() ? "" : "\n", found.name, found.split);
    for (const Array& array : found.arrays) {
      const Json attributes = record.attributes(found.group + "/" + array.name);
      const std::string unit = text_of(attributes.value("units", Json("1")));
      out += fmt::format("  {}: {}{}\n",
                         array.name,
                         text_of(attributes.value("long_name", Json(""))),
                         unit == "1" ? "" : " (" + unit + ")");
    }
    out += table_by_update(found);
    for (const Array& axis : found.axes)
      if (axis.name != "update") out += along(found, axis.name);
  }
  return out;
}

}  // namespace softalign::app
