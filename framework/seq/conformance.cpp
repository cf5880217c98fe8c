#include "framework/seq/conformance.hpp"

#include <cmath>
#include <cstring>
#include <memory>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/base/types.hpp"
#include "framework/config/writer.hpp"
#include "framework/ops/ops.hpp"
#include "framework/seq/conformance_subject.hpp"

namespace softalign {
using namespace conformance;
namespace {

#ifdef SOFTALIGN_DOUBLE
constexpr double kGradientTolerance = 1e-5, kGradientStep = 1e-5, kRowTolerance = 1e-12;
constexpr double kPartTolerance = 1e-12;  // products by BLAS, whose bits may vary
#else
constexpr double kGradientTolerance = 5e-4, kGradientStep = 1e-2, kRowTolerance = 2e-5;
constexpr double kPartTolerance = 0;
#endif

using Lengths = std::vector<Index>;

const Lengths kLengths = {5, 4, 2};

using Numbers = std::vector<std::vector<real>>;

// Runs the subject on copies of its inputs in inference mode.
Numbers outputs_of(Subject& subject, std::vector<Subject::Input>& inputs, const Lengths& lengths) {
  Tape tape(Tape::Mode::infer);
  Arrays arrays;
  for (auto& input : inputs) arrays.push_back(tape.constant({input.numbers.data(), input.shape}));
  Numbers result;
  for (Var out : subject.run(tape, arrays, lengths))
    result.emplace_back(out.value().begin(), out.value().end());
  return result;
}

// Returns the numbers of sentence `row`: at its valid positions if the array is positional, else all.
std::vector<real> valid(const std::vector<real>& all,
                        bool positional,
                        Index rows,
                        Index row,
                        Index positions,
                        Index length) {
  const Index each = std::ssize(all) / rows;
  const Index count = positional ? each / positions * length : each;
  const auto begin = all.begin() + row * each;
  return {begin, begin + count};
}

double difference(const std::vector<real>& a, const std::vector<real>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double scale = 1 + std::abs(static_cast<double>(a[i]));
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) / scale;
    worst = std::max(worst, std::isnan(d) ? std::numeric_limits<double>::infinity() : d);
  }
  return worst;
}

ConformanceResult gradients(Subject& subject) {
  std::vector<View> views;
  for (auto& input : subject.inputs) views.push_back({input.numbers.data(), input.shape});
  const GradientCheck result = check_gradients(
      [&](Tape& tape, const Arrays& arrays) {
        Arrays outputs = subject.run(tape, arrays, kLengths);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          if (!subject.positional_outputs[i]) continue;
          View mask = tape.zeros(outputs[i].shape());  // padding is ignored
          const Index each = mask.size() / kRows / kPositions;
          for (Index b = 0; b < kRows; ++b)
            std::fill_n(mask.data + b * kPositions * each, kLengths[usize(b)] * each, real{1});
          outputs[i] = outputs[i] * tape.constant(mask);
        }
        return outputs;
      },
      views,
      &subject.parameters,
      6,
      kGradientStep);
  if (result.checked == 0) return {"gradients", true, "all outputs are 0 here: nothing to compare"};
  const bool passed = result.worst < kGradientTolerance;
  std::string detail = fmt::format("{} numbers against finite differences: ", result.checked);
  if (passed)
    detail += result.worst > 0 ? fmt::format("errors up to {:.1e}", result.worst)
                               : "no error beyond rounding";
  else
    detail += fmt::format("wrong by {:.1e} at {}", result.worst, result.where);
  if (!result.idle.empty())
    detail += fmt::format("; no gradient reaches {}", fmt::join(result.idle, ", "));
  return {"gradients", passed, detail};
}

ConformanceResult padding(Subject& subject) {
  auto dirty = subject.inputs;
  for (auto& input : dirty) {
    if (!input.positional) continue;
    const Index each = input.shape.size() / kRows / kPositions;
    for (Index b = 0; b < kRows; ++b)
      for (Index i = kLengths[usize(b)] * each; i < kPositions * each; ++i)
        input.numbers[usize(b * kPositions * each + i)] = real{1000};
  }
  const Numbers clean = outputs_of(subject, subject.inputs, kLengths);
  const Numbers other = outputs_of(subject, dirty, kLengths);
  bool same = true;
  for (std::size_t i = 0; i < clean.size(); ++i)
    for (Index b = 0; b < kRows; ++b) {
      const Index length = kLengths[usize(b)];
      same =
          same && valid(clean[i], subject.positional_outputs[i], kRows, b, kPositions, length) ==
                      valid(other[i], subject.positional_outputs[i], kRows, b, kPositions, length);
    }
  return {"padding", same, same ? "padding changes no bit" : "padding changes the result"};
}

ConformanceResult batch_size(Subject& subject) {
  const Numbers together = outputs_of(subject, subject.inputs, kLengths);
  double worst = 0;
  for (Index b = 0; b < kRows; ++b) {
    const Index length = kLengths[usize(b)];
    std::vector<Subject::Input> alone;
    for (const auto& input : subject.inputs) {
      Shape shape = input.shape.rank() == 3   ? Shape{1, input.shape[1], input.shape[2]}
                    : input.shape.rank() == 2 ? Shape{1, input.shape[1]}
                                              : Shape{1};
      if (input.positional)
        shape = input.shape.rank() == 2 ? Shape{1, length} : Shape{1, length, input.shape[2]};
      alone.push_back({valid(input.numbers, input.positional, kRows, b, kPositions, length),
                       shape,
                       input.positional});
    }
    const Numbers single = outputs_of(subject, alone, {length});
    for (std::size_t i = 0; i < together.size(); ++i)
      worst = std::max(
          worst,
          difference(
              valid(together[i], subject.positional_outputs[i], kRows, b, kPositions, length),
              single[i]));
  }
  return {"batch size",
          worst <= kRowTolerance,
          fmt::format("a sentence alone and in a batch differ by {:.1e}", worst)};
}

ConformanceResult permutation(Subject& subject) {
  auto turned = subject.inputs;
  // Sentence 0 is reversed; its energies must be reversed too.
  for (std::size_t i = 0; i < turned.size(); ++i) {
    if (!turned[i].positional) continue;
    const Index each = turned[i].shape.size() / kRows / kPositions;
    for (Index s = 0; s < kPositions; ++s)
      std::copy_n(subject.inputs[i].numbers.begin() + s * each,
                  each,
                  turned[i].numbers.begin() + (kPositions - 1 - s) * each);
  }
  std::vector<real> expected = valid(
      outputs_of(subject, subject.inputs, kLengths)[0], true, kRows, 0, kPositions, kPositions);
  std::reverse(expected.begin(), expected.end());
  const double worst = difference(
      expected,
      valid(outputs_of(subject, turned, kLengths)[0], true, kRows, 0, kPositions, kPositions));
  return {"permutation",
          worst <= kRowTolerance,
          fmt::format("exchanging source positions exchanges the energies, within {:.1e}", worst)};
}

ConformanceResult weights(Subject& subject) {
  const auto all = outputs_of(subject, subject.inputs, kLengths)[usize(subject.weights_output)];
  double worst = 0, largest = 0;
  bool clean = true, positive = true;
  for (Index b = 0; b < kRows; ++b) {
    double sum = 0;
    for (Index s = 0; s < kPositions; ++s) {
      const real w = all[usize(b * kPositions + s)];
      if (s < kLengths[usize(b)])
        sum += static_cast<double>(w);
      else
        clean = clean && w == 0;
      positive = positive && w >= 0;  // false for NaN, too
    }
    worst = std::max(worst, std::abs(sum - 1));
    largest = std::max(largest, sum);
  }
  const bool to_one = subject.weights_sum_to_one;
  return {"weights",
          clean && positive && (to_one ? worst < 1e-5 : std::isfinite(largest)),
          fmt::format("rows sum to {}; padding {}; {}",
                      to_one ? fmt::format("1 within {:.1e}", worst)
                             : fmt::format("anything, here up to {:.2g}", largest),
                      clean ? "is exactly 0" : "is NOT 0",
                      positive ? "none is negative" : "some are NEGATIVE")};
}

ConformanceResult same_bits(Subject& subject) {
  const bool same = outputs_of(subject, subject.inputs, kLengths) ==
                    outputs_of(subject, subject.inputs, kLengths);
  return {"same bits", same, same ? "two runs are equal" : "two runs differ"};
}

// Returns the inputs of sentences [first, first + count), cut to the longest of them.
std::vector<Subject::Input> inputs_of(const Subject& subject, Index first, Index count) {
  const Index longest = kLengths[usize(first)];
  std::vector<Subject::Input> inputs;
  for (const auto& input : subject.inputs) {
    const Shape& of = input.shape;
    Subject::Input part{{}, Shape{count}, input.positional};
    for (int axis = 1; axis < of.rank(); ++axis)
      part.shape = part.shape.and_last(axis == 1 && input.positional ? longest : of[axis]);
    for (Index b = first; b < first + count; ++b) {
      const auto numbers = valid(input.numbers, input.positional, kRows, b, kPositions, longest);
      part.numbers.insert(part.numbers.end(), numbers.begin(), numbers.end());
    }
    inputs.push_back(std::move(part));
  }
  return inputs;
}

// Returns the gradients of all parameters with the batch divided into parts of these numbers of sentences.
// The gradient of an output is the output itself at valid positions, else 0.
std::vector<real> gradients_in_parts(Subject& subject, std::span<const Index> counts) {
  WeightPacks packs;
  std::vector<std::unique_ptr<Tape>> tapes;
  std::vector<std::vector<Subject::Input>> inputs;
  Index first = 0;
  for (const Index count : counts) {
    Tape& tape = *tapes.emplace_back(std::make_unique<Tape>(Tape::Mode::train));
    tape.collect_gradients(packs);
    Arrays arrays;
    for (auto& input : inputs.emplace_back(inputs_of(subject, first, count)))
      arrays.push_back(tape.constant({input.numbers.data(), input.shape}));
    const Lengths lengths(kLengths.begin() + first, kLengths.begin() + first + count);
    const Arrays outputs = subject.run(tape, arrays, lengths);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const View value = outputs[i].value(), gradient = outputs[i].gradient();
      const Index each = value.size() / count, positions = lengths.front();
      for (Index k = 0; gradient && k < value.size(); ++k)
        if (!subject.positional_outputs[i] ||
            k % each / (each / positions) < lengths[usize(k / each)])
          gradient.data[k] += value.data[k];
    }
    tape.backward();
    first += count;
  }
  std::vector<real> gradients(usize(subject.parameters.flat_size()));
  Arena scratch;
  for (const Parameter& one : subject.parameters.all()) {
    std::vector<WeightProducts> parts;
    for (const auto& tape : tapes) {
      WeightProducts& part = parts.emplace_back();
      for (const WeightProduct& product : tape->weight_products())
        if (product.weight == one.offset) part.push_back(product);
    }
    const Index columns = one.shape.last();
    add_weight_products(
        parts, {gradients.data() + one.offset, one.shape.rows(), columns, 0, columns}, scratch);
  }
  return gradients;
}

ConformanceResult parts(Subject& subject) {
  const std::vector<Index> whole = {3}, two = {1, 2}, three = {1, 1, 1};
  const std::vector<real> expected = gradients_in_parts(subject, whole);
  const bool same = difference(expected, gradients_in_parts(subject, two)) <= kPartTolerance &&
                    difference(expected, gradients_in_parts(subject, three)) <= kPartTolerance;
  return {"parts",
          same,
          same ? "dividing a batch changes no bit of a gradient"
               : "gradients change with the division of a batch: a sum over sentences has another "
                 "order"};
}

// Returns the losses [B], followed by the gradients of all inputs and parameters.
std::vector<real> loss_and_gradients(Subject& subject, const Subject::Run& loss) {
  std::vector<real> of_parameters(usize(subject.parameters.flat_size()));
  std::vector<std::vector<real>> of_inputs;
  Tape tape(Tape::Mode::train, of_parameters.data());
  Arrays arrays;
  for (auto& input : subject.inputs) of_inputs.emplace_back(input.numbers.size());
  for (std::size_t i = 0; i < of_inputs.size(); ++i)
    arrays.push_back(tape.leaf({subject.inputs[i].numbers.data(), subject.inputs[i].shape},
                               of_inputs[i].data()));
  const Var losses = loss(tape, arrays, kLengths)[0];
  std::vector<real> all(losses.value().begin(), losses.value().end());
  tape.backward(losses);
  for (const auto& gradients : of_inputs) all.insert(all.end(), gradients.begin(), gradients.end());
  all.insert(all.end(), of_parameters.begin(), of_parameters.end());
  return all;
}

ConformanceResult loss_of_logits(Subject& subject) {
  const double worst = difference(loss_and_gradients(subject, subject.loss),
                                  loss_and_gradients(subject, subject.formula));
  return {"loss",
          worst < kRowTolerance,
          fmt::format("loss and gradients agree with the logits within {:.1e}", worst)};
}

ConformanceResult steady_memory(Subject& subject, const std::function<Index()>& allocations) {
  std::vector<real> buffer(usize(subject.parameters.flat_size()));
  std::vector<std::vector<real>> inner;
  for (auto& input : subject.inputs) inner.emplace_back(input.numbers.size());
  Tape tape(Tape::Mode::train, buffer.data());
  Index asked = 0;
  for (int step = 0; step < 3; ++step) {  // the first two fill the arena and the thread's buffers
    tape.reset();
    Arrays arrays;
    for (std::size_t i = 0; i < inner.size(); ++i)
      arrays.push_back(
          tape.leaf({subject.inputs[i].numbers.data(), subject.inputs[i].shape}, inner[i].data()));
    Arrays outputs = subject.run(tape, arrays, kLengths);  // allocates its result: not counted
    const Index before = allocations();
    Var loss = sum(outputs[0] * outputs[0]);
    tape.backward(loss);
    asked = allocations() - before;
  }
  return {"steady memory",
          asked == 0,
          fmt::format("{} allocations in the backward of the third step", asked)};
}

}  // namespace

std::vector<ConformanceResult> check_conformance(std::string_view kind,
                                                 std::string_view name,
                                                 const std::function<Index()>& allocations) {
  return check_conformance(Choice{std::string(kind), std::string(name), nullptr, {}}, allocations);
}

std::vector<ConformanceResult> check_conformance(const Choice& choice,
                                                 const std::function<Index()>& allocations) {
  const PluginEntry& entry = Registry::instance().find(choice.kind, choice.type);
  std::vector<ConformanceResult> results;
  const std::string fault =
      round_trip_fault(choice.options ? *choice.options->clone() : *entry.options());
  results.push_back(
      {"options", fault.empty(), fault.empty() ? "can be written and read back" : fault});

  std::unique_ptr<Subject> subject;
  const auto run = [&](const char* check, const std::function<ConformanceResult()>& f) {
    try {
      results.push_back(f());
    } catch (const std::exception& error) {
      results.push_back({check, false, error.what()});
    } catch (...) {  // a third-party plugin may throw anything
      results.push_back({check, false, kNoException});
    }
  };
  run("construction", [&]() -> ConformanceResult {
    subject = subject_for(choice);
    if (subject) subject->parameters.allocate(3);
    return {"construction",
            true,
            choice.options ? "from the given options" : "from its default options"};
  });
  if (!subject) {
    if (results.back().passed) results.pop_back();  // only options are checked for this kind
    return results;
  }
  run("gradients", [&] { return gradients(*subject); });
  run("padding", [&] { return padding(*subject); });
  run("batch size", [&] { return batch_size(*subject); });
  if (subject->permutable) run("permutation", [&] { return permutation(*subject); });
  if (subject->loss) run("loss", [&] { return loss_of_logits(*subject); });
  if (subject->weights_output >= 0) run("weights", [&] { return weights(*subject); });
  run("same bits", [&] { return same_bits(*subject); });
  run("parts", [&] { return parts(*subject); });
  if (allocations) run("steady memory", [&] { return steady_memory(*subject, allocations); });
  return results;
}

}  // namespace softalign
