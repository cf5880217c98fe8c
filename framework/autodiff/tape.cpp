#include "framework/autodiff/tape.hpp"

#include <algorithm>

#include "framework/base/error.hpp"

namespace softalign {

View Var::gradient() const {
  if (!node_->needs_gradient) return {};
  if (node_->gradient == nullptr) node_->gradient = node_->tape->zeros(node_->value.shape).data;
  return {node_->gradient, node_->value.shape};
}

Var Tape::constant(View value) { return Var(arena_.make<Var::Node>(value, nullptr, this, false)); }

Var Tape::leaf(View value, real* gradient) {
  return Var(arena_.make<Var::Node>(value, gradient, this, training() && gradient != nullptr));
}

Var Tape::parameter(const Parameter& parameter) {
  return leaf(parameter.value(), gradients_ == nullptr ? nullptr : gradients_ + parameter.offset);
}

void Tape::backward(Var loss, real seed) {
  if (loss.shape().size() != 1)
    throw BugError("[backward] the loss must be one number, not {}", loss.shape().str());
  backward_from(loss, {&seed, loss.shape()});
}

void Tape::backward_from(Var output, View seed) {
  View gradient = output.gradient();
  if (!gradient) return;  // depends on nothing that is trained
  for (Index i = 0; i < gradient.size(); ++i) gradient.data[i] += seed.data[i];
  run_backward();
}

void Tape::run_backward() {
  Step* step = last_;
  last_ = nullptr;  // one backward per recording: a second would add everything twice
  for (; step != nullptr; step = step->previous)
    if (step->output->gradient != nullptr)
      step->run(step, {step->output->gradient, step->output->value.shape});
}

void Tape::reset() { rewind({}); }

void Tape::rewind(Mark mark) {
  arena_.rewind(mark.arena);
  last_ = static_cast<Step*>(mark.last);
}

Tape& Tape::scratch() {
  if (!scratch_) scratch_ = std::make_unique<Tape>(mode_, gradients_);
  return *scratch_;
}

}  // namespace softalign
