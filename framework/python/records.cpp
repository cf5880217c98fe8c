// Python bindings of runs and their records.
#include <nlohmann/json.hpp>

#include "framework/analysis/compare_runs.hpp"
#include "framework/analysis/export.hpp"
#include "framework/analysis/export_links.hpp"
#include "framework/analysis/record_facts.hpp"
#include "framework/analysis/run.hpp"
#include "framework/base/error.hpp"
#include "framework/base/workers.hpp"
#include "framework/python/convert.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/runs/report.hpp"

namespace softalign::python {
namespace {

std::vector<std::string> paths_of(const std::vector<std::string>& places,
                                  const std::string& results) {
  std::vector<std::string> all;
  for (const auto& paths : find_runs(places, results))
    for (const auto& path : paths) all.push_back(path.string());
  return all;
}

// Returns a table as JSON text, and a line for each run that is not in the table.
py::tuple exported(const std::vector<std::string>& paths,
                   const std::string& what,
                   bool every_line) {
  const std::map<std::string, ExportWhat> tables = {{"runs", ExportWhat::runs},
                                                    {"curves", ExportWhat::curves},
                                                    {"sentences", ExportWhat::sentences}};
  const auto found = tables.find(what);
  if (found == tables.end()) throw SpecError("'{}': expected runs, curves or sentences", what);
  Export made;
  {
    const py::gil_scoped_release release;
    made = export_runs({paths.begin(), paths.end()}, found->second, TableFormat::json, every_line);
  }
  return py::make_tuple(made.table, made.faults);
}

py::object report(const std::vector<std::string>& places,
                  const std::string& results,
                  Index resamples,
                  const std::vector<Index>& sentences,
                  Index smooth) {
  ReportOptions options{.results = results, .draws = {}, .sentences = sentences, .smooth = smooth};
  options.draws.resamples = resamples;
  options.draws.threads = resolve_thread_count(0);
  JsonObject json;
  {
    const py::gil_scoped_release release;
    json = report_json(places, options);
  }
  return to_python(json);
}

// Returns the JSON of `compare --json`. Throws Error if runs that may belong to it are unreadable or corrupt.
std::string compared(const std::vector<std::string>& places,
                     const std::string& metrics,
                     const std::string& baseline,
                     const std::string& lengths,
                     bool tests) {
  const py::gil_scoped_release release;
  CompareOptions options{metrics, baseline, lengths, tests, {}};
  options.draws.threads = resolve_thread_count(0);
  const ComparedRuns found = compare_runs(places, "results", options);
  if (found.code() != ExitCode::done) throw Error(found.code(), found.left_out_text());
  return found.json().dump(-1, ' ', false, JsonObject::error_handler_t::replace);
}

py::array array_of(const Record& record, const std::string& group, const std::string& name) {
  Array array = record.array(group, name);
  std::vector<py::ssize_t> shape;
  for (const Dimension& dimension : array.dims) shape.push_back(dimension.size);
  return to_numpy(std::move(array.values), shape);
}

std::vector<std::string> axes_of(const Record& record,
                                 const std::string& group,
                                 const std::string& name) {
  std::vector<std::string> axes;
  for (const Dimension& dimension : record.array(group, name).dims) axes.push_back(dimension.name);
  return axes;
}

py::dict series_of(const Record& record, const std::string& name) {
  SeriesColumns series = record.series(name);
  const auto n = static_cast<py::ssize_t>(series.updates.size());
  py::dict columns;
  columns["update"] = to_numpy(std::move(series.updates), {n});
  for (auto& [column, values] : series.columns)
    columns[py::str(column)] = to_numpy(std::move(values), {n});
  return columns;
}

// Returns the matrices of a sentence, one for each update and head.
py::list alignments_of(const Record& record, const std::string& module, Index sentence) {
  py::list list;
  for (Alignment& one : record.alignments().of_sentence(module, sentence)) {
    const auto rows = static_cast<py::ssize_t>(one.target.size()),
               columns = static_cast<py::ssize_t>(one.source.size());
    list.append(
        py::dict(py::arg("update") = one.update,
                 py::arg("head") = one.head,
                 py::arg("source") = one.source,
                 py::arg("target") = one.target,
                 py::arg("gold") = one.gold.empty()
                                       ? py::object(py::none())
                                       : py::object(to_numpy(std::move(one.gold), {rows, columns})),
                 py::arg("weights") = to_numpy(std::move(one.weights), {rows, columns})));
  }
  return list;
}

py::dict parameters_of(const Record& record) {
  py::dict all;
  for (auto& [name, parameter] : record.parameters()) {
    const std::vector<py::ssize_t> shape(parameter.shape.begin(), parameter.shape.end());
    all[py::str(name)] = to_numpy(std::vector<float>(std::move(parameter.values)), shape);
  }
  return all;
}

}  // namespace

void add_records(py::module_& module) {
  module.def("find_runs", &paths_of, py::arg("places"), py::arg("results") = "results");
  module.def(
      "summary",
      [](const std::string& path) { return to_python(run_json(read_run(path))); },
      py::arg("path"));
  module.def("export", &exported, py::arg("paths"), py::arg("what"), py::arg("every_line") = false);
  module.def("report",
             &report,
             py::arg("places"),
             py::arg("results") = "results",
             py::arg("resamples") = 1000,
             py::arg("sentences") = std::vector<Index>(),
             py::arg("smooth") = 1);
  module.def("compare", &compared);
  py::class_<Record>(module, "Record")
      .def(py::init<std::filesystem::path>(), py::arg("path"))
      .def_property_readonly("file", [](const Record& r) { return r.file().string(); })
      .def_property_readonly("run_id", &Record::run_id)
      .def_property_readonly("name", &Record::name)
      .def_property_readonly("state", &Record::state)
      .def_property_readonly("spec_yaml", &Record::spec_yaml)
      .def_property_readonly("identity", &Record::identity_json)
      .def("facts", [](const Record& r) { return to_python(record_json(r)); })
      .def("children", &Record::children, py::arg("group") = "")
      .def("series_names", &Record::series_names)
      .def("has", &Record::has, py::arg("path"))
      .def(
          "attributes",
          [](const Record& r, const std::string& path) { return to_python(r.attributes(path)); },
          py::arg("path") = "")
      .def("array", &array_of, py::arg("group"), py::arg("name"))
      .def("axes", &axes_of, py::arg("group"), py::arg("name"))
      .def("series", &series_of, py::arg("name"))
      .def("parameters", &parameters_of)
      .def("default_module",
           [](const Record& r) { return default_module(r.alignments().modules(), true); })
      .def("modules", [](const Record& r) { return r.alignments().modules(); })
      .def(
          "aligned_sentences",
          [](const Record& r, const std::string& m) { return r.alignments().sentences(m); },
          py::arg("module"))
      .def("alignments", &alignments_of, py::arg("module"), py::arg("sentence"));
}

}  // namespace softalign::python
