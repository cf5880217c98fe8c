#include "framework/seq/attentional_decoder.hpp"

#include "framework/base/error.hpp"

namespace softalign {

Readout::Function Readout::function_named(const std::string& name) {
  if (name == "maxout") return Function::maxout;
  if (name == "tanh") return Function::tanh;
  if (name == "relu") return Function::relu;
  if (name == "linear") return Function::linear;
  throw BugError("[readout] no function '{}'", name);
}

Readout::Readout(
    const Parameters& p, const Options& options, Index outputs, Index embedding, Index of_zero)
    : function_(function_named(options.readout)),
      size_(options.readout_units > 0 ? options.readout_units : of_zero),
      output_(p, "output", outputs, function_ == Function::maxout ? 2 * size_ : size_),
      symbol_(p,
              "symbol",
              embedding,
              function_ == Function::maxout ? 2 * size_ : size_,
              Linear::Bias::no) {}

Var Readout::operator()(Var outputs, Var embedded) const {
  Var sum = symbol_.add_to(output_(outputs), embedded);
  switch (function_) {
    case Function::maxout:
      return maxout(sum);
    case Function::tanh:
      return tanh(sum);
    case Function::relu:
      return relu(sum);
    case Function::linear:
      break;
  }
  return sum;
}

}  // namespace softalign
