// How a model's weights begin instead of as each layer has it: spec.model.initialise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/autodiff/parameters.hpp"
#include "framework/config/options.hpp"

namespace softalign {

struct InitialiseOptions {
  std::string type = "uniform";
  double scale = 0.1;
  bool orthogonal = true;
  std::optional<std::vector<std::string>> weights;
  template <class V>
  void describe(V& v) {
    v("type",
      type,
      "uniform: in [-scale, scale); normal: of mean 0 and standard deviation scale; own: as each "
      "layer has it",
      one_of("uniform", "normal", "own"));
    v("scale", scale, "see type", qualify_name(positive()));
    v("orthogonal",
      orthogonal,
      "true: recurrent weights that would be orthogonal stay so; false: drawn like the others");
    v("weights",
      weights,
      "those that begin in another way, biases too, each as NAME = HOW; NAME: as softalign "
      "parameters has it, * for any characters; HOW: zeros, constant X, uniform X, normal X, "
      "glorot, orthogonal; of two that match the later counts",
      qualify_name());
    v.inactive("scale", type == "own", "type is own");
    v.inactive("orthogonal", type == "own", "type is own");
  }
};

// Before the values are drawn. Throws SpecError for a name that no parameter has.
void initialise(ParameterStore& store, const InitialiseOptions& options);

}  // namespace softalign
