// softalign_lab._core: the Python bindings of the library. The public interface is in softalign_lab/*.py.
#include <atomic>
#include <exception>

#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/config/registry.hpp"
#include "framework/python/convert.hpp"

namespace softalign::python {
namespace {

// Returns an array of str objects.
py::array texts(const std::vector<std::string>& all, const std::vector<py::ssize_t>& shape) {
  py::list list;
  for (const std::string& text : all)
    list.append(py::reinterpret_steal<py::str>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace")));
  return py::module_::import("numpy").attr("array")(list, py::dtype("O")).attr("reshape")(shape);
}

// Adds exceptions for the program's exit statuses: each derives from Error and from Python's own type for such faults.
void add_errors(py::module_& module) {
  static py::object base, spec, data, machine;
  const auto made = [&](const char* name, const py::tuple& bases, const char* text) {
    py::object type = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
        ("softalign_lab." + std::string(name)).c_str(), text, bases.ptr(), nullptr));
    module.attr(name) = type;
    return type;
  };
  const auto builtin = [](PyObject* type) { return py::reinterpret_borrow<py::object>(type); };
  base = made("Error", py::make_tuple(builtin(PyExc_Exception)), "Any error of softalign.");
  spec = made("SpecError",
              py::make_tuple(base, builtin(PyExc_ValueError)),
              "A spec or an argument is wrong; the text names file, line and remedy.");
  data = made("DataError",
              py::make_tuple(base, builtin(PyExc_RuntimeError)),
              "A file of data or a record is missing, wrong or damaged.");
  machine = made("MachineError",
                 py::make_tuple(base, builtin(PyExc_RuntimeError)),
                 "The machine failed (disk, memory), training diverged, or softalign has a bug.");
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const py::object& type = error.code() == ExitCode::usage  ? spec
                               : error.code() == ExitCode::data ? data
                                                                : machine;
      if (error.code() == ExitCode::interrupted)
        PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
      else
        PyErr_SetString(type.ptr(), error.what());
    }
  });
}

py::list plugins(const std::string& kind) {
  const Registry& registry = Registry::instance();
  py::list list;
  for (const std::string& one : kind.empty() ? registry.kinds() : std::vector{kind})
    for (const PluginEntry* entry : registry.entries(one))
      list.append(py::dict(py::arg("kind") = one,
                           py::arg("name") = entry->name,
                           py::arg("summary") = entry->summary));
  return list;
}

}  // namespace

py::object to_python(const JsonObject& json) {
  switch (json.type()) {
    case JsonObject::value_t::object: {
      py::dict dict;
      for (const auto& [name, value] : json.items()) dict[py::str(name)] = to_python(value);
      return dict;
    }
    case JsonObject::value_t::array: {
      py::list list;
      for (const JsonObject& value : json) list.append(to_python(value));
      return list;
    }
    case JsonObject::value_t::string: {
      const auto& text = json.get_ref<const std::string&>();
      return py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
    }
    case JsonObject::value_t::boolean:
      return py::bool_(json.get<bool>());
    case JsonObject::value_t::number_integer:
      return py::int_(json.get<std::int64_t>());
    case JsonObject::value_t::number_unsigned:
      return py::int_(json.get<std::uint64_t>());
    case JsonObject::value_t::number_float:
      return py::float_(json.get<double>());
    default:
      return py::none();
  }
}

py::array to_numpy(Values values, const std::vector<py::ssize_t>& shape) {
  return std::visit(
      [&](auto& held) -> py::array {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::vector<std::string>>)
          return texts(held, shape);
        else
          return to_numpy(std::move(held), shape);
      },
      values);
}

}  // namespace softalign::python

PYBIND11_MODULE(_core, module) {
  using namespace softalign::python;
  add_errors(module);
  module.def(
      "load_plugin",
      [](const std::string& file) { return softalign::load_plugin(file).added; },
      py::arg("file"));
  module.def("plugins", &plugins, py::arg("kind") = "");
  add_records(module);
  add_models(module);
  add_experiments(module);
  add_scores(module);
}
