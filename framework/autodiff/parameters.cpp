#include "framework/autodiff/parameters.hpp"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "framework/base/arena.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

Index padded(Index count) { return (count + 15) / 16 * 16; }

}  // namespace

View Parameter::value() const { return {store->values() + offset, shape}; }

bool has_name_like(const Parameter& parameter, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), parameter.name.c_str(), 0) == 0;
  });
}

Parameter* ParameterStore::add(std::string name, Shape shape, Initializer initializer, bool table) {
  if (values_) throw BugError("[parameters] '{}' is added after allocate()", name);
  double own = 1;  // not an Index, which the product may overflow
  for (int axis = 0; axis < shape.rank(); ++axis) own *= static_cast<double>(shape[axis]);
  const double numbers = static_cast<double>(size_) + own;
  if (numbers > static_cast<double>(kLargestModel))
    throw SpecError(
        "the model would have {:.3g} parameters or more, {:.3g} of them in '{}' {}; at "
        "most {:.3g} are allowed: use smaller sizes",
        numbers,
        own,
        name,
        shape.str(),
        static_cast<double>(kLargestModel));
  for (const Parameter& other : parameters_)
    if (other.name == name)
      throw BugError(
          "[parameters] two parameters are called '{}'; rename one of them, or add it below p / "
          "\"name\"",
          name);
  parameters_.push_back({.name = std::move(name),
                         .shape = shape,
                         .initializer = std::move(initializer),
                         .table = table,
                         .store = this});
  size_ += padded(shape.size());
  return &parameters_.back();
}

void ParameterStore::redraw(const Initializer& initializer, bool orthogonal_too) {
  for (Parameter& parameter : parameters_) {
    const Initializer::Kind kind = parameter.initializer.kind();
    if (kind == Initializer::Kind::weights ||
        (orthogonal_too && kind == Initializer::Kind::orthogonal))
      parameter.initializer = initializer;
  }
}

Index ParameterStore::redraw_named(const std::string& pattern,
                                   const std::function<Initializer(const Parameter&)>& how) {
  Index count = 0;
  for (Parameter& parameter : parameters_)
    if (has_name_like(parameter, {pattern})) {
      parameter.initializer = how(parameter);
      ++count;
    }
  return count;
}

Parameter* ParameterStore::add_state(std::string name, Shape shape, Initializer initializer) {
  Parameter* state = add(std::move(name), shape, std::move(initializer));
  state->trained = false;
  return state;
}

void ParameterStore::freeze(const std::vector<std::string>& patterns) {
  for (Parameter& parameter : parameters_)
    if (has_name_like(parameter, patterns)) parameter.trained = false;
}

void ParameterStore::allocate_zeros() {
  // Otherwise the system would overcommit, and kill the program once the memory is used.
  const double needed = static_cast<double>(size_) * sizeof(real);
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed > there)
    throw MachineError(
        "the model's {} parameters take {:.1f} GiB, and this machine has {:.1f} GiB of memory; use "
        "smaller sizes",
        count(),
        needed / 0x1p30,
        there / 0x1p30);
  Index offset = 0;
  const auto place = [&](auto belongs) {
    for (Parameter& parameter : parameters_) {
      if (!belongs(parameter)) continue;
      parameter.offset = offset;
      offset += padded(parameter.shape.size());
    }
    return offset;
  };
  dense_size_ = place([](const Parameter& one) { return one.trained && !one.table; });
  trained_size_ = place([](const Parameter& one) { return one.trained && one.table; });
  place([](const Parameter& one) { return !one.trained; });
  values_.reset(static_cast<real*>(std::calloc(usize(std::max<Index>(1, size_)), sizeof(real))));
  if (!values_) throw std::bad_alloc();
  ask_for_large_pages(values_.get(), usize(size_) * sizeof(real));
}

void ParameterStore::allocate(std::uint64_t seed) {
  allocate_zeros();
  for (const Parameter& parameter : parameters_)
    parameter.initializer(parameter.value(), RandomStream(seed, "init/" + parameter.name));
}

Index ParameterStore::count() const {
  Index total = 0;
  for (const Parameter& parameter : parameters_)
    if (parameter.trained) total += parameter.shape.size();
  return total;
}

}  // namespace softalign
