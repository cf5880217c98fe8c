// Python bindings of specs and training.
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/config/help.hpp"
#include "framework/config/writer.hpp"
#include "framework/eval/metric.hpp"
#include "framework/python/convert.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/load_spec.hpp"

namespace softalign::python {
namespace {

// Resolves the spec in a file, or in `text`, the YAML of a file with the name `file`.
ResolvedSpec<Spec> resolved(const std::string& file,
                            const std::optional<std::string>& text,
                            const std::vector<std::string>& overrides,
                            const std::vector<std::string>& plugins,
                            const std::string& results) {
  const auto changes = numbered_overrides(overrides);
  return load_with_plugins(
      text ? parse_tree(*text, file, changes) : load_tree(file, changes), plugins, results);
}

// Reports events to a Python function, watch(kind, values). Its exceptions and Ctrl-C stop the run and save its state.
class Watcher final : public Observer {
 public:
  Watcher(py::function watch, bool updates) : watch_(std::move(watch)), updates_(updates) {}

  void message(std::string_view text) override {
    tell("message", [&](py::dict& values) { values["text"] = std::string(text); });
  }
  void stage(std::string_view what, Index done, Index total) override {
    tell("stage", [&](py::dict& values) {
      values["what"] = std::string(what);
      values["done"] = done;
      values["total"] = total;
    });
  }
  void update(const TrainingProgress& progress) override {
    if (updates_) tell("update", [&](py::dict& values) { fill(values, progress); });
  }
  void dev(const TrainingProgress& progress, const MetricTable& table, bool best) override {
    tell("dev", [&](py::dict& values) {
      fill(values, progress);
      values["best"] = best;
      values["metrics"] = to_python(metrics_json(table).at("all"));
    });
  }
  bool stop_requested() override {
    const py::gil_scoped_acquire acquire;
    if (!fault_ && PyErr_CheckSignals() != 0) fault_.emplace();
    return fault_.has_value();
  }
  // Rethrows the Python exception, if any. The caller holds the GIL.
  void rethrow() {
    if (fault_) throw *std::exchange(fault_, std::nullopt);
  }

 private:
  template <class Fill>
  void tell(const char* kind, const Fill& fill_in) {
    const py::gil_scoped_acquire acquire;
    if (fault_) return;
    try {
      py::dict values;
      fill_in(values);
      watch_(kind, values);
    } catch (py::error_already_set& error) {
      fault_.emplace(std::move(error));
    }
  }
  static void fill(py::dict& values, const TrainingProgress& progress) {
    values["epoch"] = progress.epoch;
    values["epochs"] = progress.epochs;
    values["update"] = progress.update;
    values["updates"] = progress.updates;
    values["loss"] = progress.loss;
    values["tokens"] = progress.tokens;
  }

  py::function watch_;
  bool updates_;
  std::optional<py::error_already_set> fault_;
};

// Trains or resumes a run and returns its folder.
std::string train(const std::string& file,
                  const std::optional<std::string>& text,
                  const std::vector<std::string>& overrides,
                  const std::vector<std::string>& plugins,
                  const std::string& results,
                  int threads,
                  bool force,
                  const py::function& watch,
                  bool updates) {
  const ResolvedSpec<Spec> spec = resolved(file, text, overrides, plugins, results);
  Watcher watcher(watch, updates);
  for (const std::string& note : spec.notes) watcher.message(note);
  try {
    const py::gil_scoped_release release;
    return run_experiment(spec, {.results = results, .threads = threads, .force = force}, watcher)
        .folder.string();
  } catch (const Error&) {
    watcher.rethrow();
    throw;
  }
}

py::dict resolve(const std::string& file,
                 const std::optional<std::string>& text,
                 const std::vector<std::string>& overrides,
                 const std::vector<std::string>& plugins) {
  const ResolvedSpec<Spec> spec = resolved(file, text, overrides, plugins, "results");
  check_spec(spec);
  const RunName name = run_name(spec.spec, MissingFiles::are_left_out);
  return py::dict(py::arg("yaml") = resolved_yaml(spec.spec, spec.origins),
                  py::arg("run_id") = name.run_id,
                  py::arg("identity") = name.identity_json,
                  py::arg("notes") = spec.notes);
}

}  // namespace

void add_experiments(py::module_& module) {
  module.def("resolve",
             &resolve,
             py::arg("file"),
             py::arg("text") = std::nullopt,
             py::arg("overrides") = std::vector<std::string>(),
             py::arg("plugins") = std::vector<std::string>());
  module.def("train",
             &train,
             py::arg("file"),
             py::arg("text"),
             py::arg("overrides"),
             py::arg("plugins"),
             py::arg("results"),
             py::arg("threads"),
             py::arg("force"),
             py::arg("watch"),
             py::arg("updates"));
}

}  // namespace softalign::python
