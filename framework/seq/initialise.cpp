#include "framework/seq/initialise.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "framework/base/text.hpp"
#include "framework/config/value.hpp"
#include "framework/data/text.hpp"
#include "framework/nn/initializers.hpp"

namespace softalign {
namespace {

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw SpecError("model.initialise.weights: {}", fmt::format(format, std::forward<Args>(args)...));
}

// Of the item "NAME = HOW".
Initializer initializer_of(const std::string& item) {
  const auto sign = item.find('=');
  const std::vector<std::string_view> words =
      split_words(sign == item.npos ? "" : std::string_view(item).substr(sign + 1));
  const std::string_view how = words.empty() ? "" : words[0];
  const auto number = [&](const Limits& limits) {
    try {
      return to_number(Value::scalar(std::string(words[1]), {}), limits);
    } catch (const ScalarFault& fault) {
      refuse("'{}': {}", printable(item), fault.what());
    }
  };
  if (words.size() == 1) {
    if (how == "zeros") return init::zeros();
    if (how == "glorot") return init::glorot();
    if (how == "orthogonal") return init::orthogonal();
  } else if (words.size() == 2) {
    if (how == "constant") return init::constant(number({}));
    if (how == "uniform") return init::uniform(number(positive()));
    if (how == "normal") return init::normal(number(positive()));
  }
  refuse("'{}': write NAME = zeros, constant X, uniform X, normal X, glorot or orthogonal",
         printable(item));
}

// Orthogonal blocks as many as lie side by side.
Initializer fitting(const Initializer& initializer, const Parameter& parameter) {
  if (initializer.kind() != Initializer::Kind::orthogonal) return initializer;
  const Shape& shape = parameter.shape;
  if (shape.rank() != 2 || shape[1] % shape[0] != 0)
    refuse("{} {} is not of square blocks side by side, and cannot be orthogonal",
           parameter.name,
           shape.str());
  return init::orthogonal(shape[1] / shape[0]);
}

// Names that are like this one, or end as it does.
std::string names_like(std::string_view name, const ParameterStore& store) {
  const std::string end = fmt::format(".{}", name.substr(name.rfind('.') + 1));
  std::vector<std::string> near;
  for (const Parameter& parameter : store.all())
    if (alike(name, parameter.name) || parameter.name.ends_with(end))
      near.push_back(parameter.name);
  return near.empty() ? "" : fmt::format(" did you mean {}?", fmt::join(near, " or "));
}

}  // namespace

void initialise(ParameterStore& store, const InitialiseOptions& options) {
  if (options.type != "own")
    store.redraw(
        options.type == "uniform" ? init::uniform(options.scale) : init::normal(options.scale),
        !options.orthogonal);
  for (const std::string& item : options.weights.value_or(std::vector<std::string>{})) {
    const Initializer how = initializer_of(item);
    const std::string name(trimmed(std::string_view(item).substr(0, item.find('='))));
    if (store.redraw_named(name, [&](const Parameter& one) { return fitting(how, one); }) == 0)
      refuse("'{}' is the name of no parameter;{} softalign parameters lists them",
             printable(name),
             names_like(name, store));
  }
}

}  // namespace softalign
