#include "framework/base/linear_algebra.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "framework/base/error.hpp"

namespace softalign {
namespace {

// Returns a function of the library for linear algebra, which lies next to this one.
template <class Function>
Function* loaded(const char* name) {
  static void* const library = [] {
    Dl_info here{};
    dladdr(reinterpret_cast<const void*>(&singular_values), &here);
    const auto file =
        std::filesystem::path(here.dli_fname).parent_path() / "libsoftalign_linear_algebra.so";
    void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) throw MachineError("cannot load linear algebra: {}", dlerror());
    return opened;
  }();
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

Array1d least_squares(const Array2d& x, const Array1d& y, double cut) {
  Array1d found;
  loaded<void(const Array2d&, const Array1d&, double, Array1d&)>("softalign_least_squares")(
      x, y, cut, found);
  return found;
}

SingularValues singular_values(const Array2d& x) {
  SingularValues found;
  loaded<void(const Array2d&, SingularValues&)>("softalign_singular_values")(x, found);
  return found;
}

}  // namespace softalign
