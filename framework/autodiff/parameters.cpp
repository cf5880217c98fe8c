#include "framework/autodiff/parameters.hpp"

#include "framework/base/error.hpp"

namespace softalign {

View Parameter::value() const { return {store->values() + offset, shape}; }

Parameter* ParameterStore::add(std::string name, Shape shape, Initializer initializer) {
  if (!values_.empty()) throw BugError("[parameters] '{}' is added after allocate", name);
  double numbers = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) numbers *= static_cast<double>(shape[axis]);
  if (numbers > 0x1p34)
    throw SpecError("parameter '{}' {} would have more than 2^34 numbers; use smaller sizes",
                    name,
                    shape.str());
  for (const Parameter& other : parameters_)
    if (other.name == name) throw BugError("[parameters] two parameters are called '{}'", name);
  parameters_.push_back({std::move(name), shape, std::move(initializer), size_, this});
  size_ += (shape.size() + 15) / 16 * 16;
  return &parameters_.back();
}

void ParameterStore::allocate(std::uint64_t seed) {
  values_.assign(static_cast<std::size_t>(size_), real{0});
  for (const Parameter& parameter : parameters_)
    parameter.initializer(parameter.value(), RandomStream(seed, "init/" + parameter.name));
}

Index ParameterStore::count() const {
  Index total = 0;
  for (const Parameter& parameter : parameters_) total += parameter.shape.size();
  return total;
}

}  // namespace softalign
