#include "framework/train/check_sizes.hpp"

#include <algorithm>
#include <cmath>
#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {
namespace {

constexpr double kNearly = 0.8;  // share of the memory: above it a note is printed

}  // namespace

std::string check_sizes(const MemoryEstimate& estimate,
                        const SizeCheck& check,
                        const Origins& origins) {
  const double each = estimate.bytes(), all = each * static_cast<double>(check.side_by_side),
               limit = check.machine.limit;
  if (all <= kNearly * limit) return "";
  const MemoryPart& largest = estimate.largest();
  const std::string needed = fmt::format(
      "about {} of memory would be needed{}, {} of it for {}, and {} is {}",
      bytes_text(each),
      check.side_by_side > 1 ? fmt::format(" by each of {} at a time", check.side_by_side) : "",
      bytes_text(largest.bytes),
      largest.what,
      check.machine.limited_by,
      bytes_text(limit));
  if (!estimate.known)
    return "note: if sentences and vocabularies are as large as the task allows, " + needed;
  if (all <= limit || !check.refuse) return "note: " + needed;
  const std::string key = each <= limit ? "--workers" : largest.key;
  Checks checks(origins);
  checks.pass([&] { throw SpecError("{}: {}; lower it, or use --no-size-check", key, needed); });
  checks.finish();
  return "";
}

std::string check_run_sizes(const ResolvedSpec<Spec>& resolved,
                            const DataOutline& data,
                            int threads,
                            const SizeCheck& check,
                            MemoryEstimate* needed) {
  const MemoryEstimate estimate =
      MemoryMeter(check.machine.limit).of_run(resolved.spec, data, threads, check.ranks);
  if (needed != nullptr) *needed = estimate;
  return check_sizes(estimate, check, resolved.origins);
}

namespace {

// Bytes measured on finished runs: of a symbol of a vocabulary; of a number of a frame, with its text.
constexpr double kSymbol = 112, kFrameBytes = sizeof(float) + 2;

}  // namespace

Index at_least_one_symbol(Index known) { return std::max<Index>(known, kSpecials + 1); }

DataOutline assumed(DataOutline data) {
  const auto assume = [](DataOutline::Lengths& side, const DataOutline::Lengths& train) {
    const Index longest = side.longest > 0 ? side.longest : train.longest;
    if (side.mean == 0) side = DataOutline::Lengths::even(1, longest);
  };
  for (DataOutline::SplitOutline* split : {&data.train, &data.dev, &data.test}) {
    assume(split->source, data.train.source);
    assume(split->target, data.train.target);
  }
  return data;
}

double name_bytes(Index symbols) {
  if (symbols == 0) return 0;  // frames
  return symbols <= 55 ? 2 : 2 + std::log10(static_cast<double>(symbols));
}

double bytes_of_names(const DataOutline& data) {
  const auto side = [](Index symbols) {
    return static_cast<double>(symbols) * name_bytes(symbols);
  };
  return side(data.source_symbols) + side(data.target_symbols);
}

double bytes_of_vocabularies(const DataOutline& data) {
  const Index other = data.one_vocabulary ? 0 : data.target_symbols;
  return kSymbol * static_cast<double>(data.source_symbols + other);
}

double bytes_of_examples(const DataOutline& data) {
  const auto symbol = [](Index of) { return sizeof(Token) + name_bytes(of); };
  double sum = 0;
  if (data.held)
    for (const DataOutline::SplitOutline* split : {&data.train, &data.dev, &data.test})
      sum +=
          static_cast<double>(split->examples) *
          (sizeof(ExampleRow) +
           split->source.mean * (data.frames ? kFrameBytes * static_cast<double>(data.frames.size)
                                             : symbol(data.source_symbols)) +
           split->target.mean * symbol(data.target_symbols) +
           (split->links ? sizeof(Link) * split->target.mean : 0));
  return sum;
}

Index cells_of(const DataOutline& data) {
  if (data.cells > 0) return data.cells;
  const DataOutline::SplitOutline& train = data.train;
  const auto words = [](Index symbols) {
    return static_cast<double>(std::max<Index>(1, symbols - kSpecials));
  };
  const double target = words(data.target_symbols), all = words(data.source_symbols) * target,
               met = static_cast<double>(train.examples) * train.source.mean * train.target.mean;
  return static_cast<Index>(target - all * std::expm1(-met / all));
}

Index typical_length(const DataOutline::SplitOutline& split) {
  return static_cast<Index>(std::max(split.source.mean, split.target.mean)) + 1;
}

double updates_of(const TrainOptions& train, const DataOutline::SplitOutline& data) {
  const Index examples = data.drawn > 0 ? data.drawn : data.examples;
  const double batch = static_cast<double>(most_pairs(train.batch, typical_length(data)) *
                                           train.accumulate.value_or(1));
  const double all =
      static_cast<double>(train.epochs) * std::ceil(static_cast<double>(examples) / batch);
  return train.max_updates ? std::min(all, static_cast<double>(*train.max_updates)) : all;
}

double dev_evaluations_of(const Spec& spec, const DataOutline::SplitOutline& train) {
  if (!spec.evaluate.every) return static_cast<double>(spec.train.epochs);
  return updates_of(spec.train, train) / static_cast<double>(spec.evaluate.every->updates) + 1;
}

}  // namespace softalign
