// Converts values of the library to Python.
#pragma once

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "framework/base/json.hpp"
#include "framework/record/journal/frames.hpp"

namespace softalign::python {

namespace py = pybind11;

// Converts JSON to dict, list, str, int, float, bool and None.
py::object to_python(const JsonObject& json);

// Returns a NumPy array that owns the numbers, without copying them. Texts become an array of str objects.
template <class T>
py::array to_numpy(std::vector<T> values, const std::vector<py::ssize_t>& shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const py::capsule owner(kept, [](void* given) { delete static_cast<std::vector<T>*>(given); });
  return py::array_t<T>(shape, kept->data(), owner);
}
py::array to_numpy(Values values, const std::vector<py::ssize_t>& shape);

// Each adds a part of the module.
void add_records(py::module_& module);
void add_models(py::module_& module);
void add_experiments(py::module_& module);
void add_scores(py::module_& module);

}  // namespace softalign::python
