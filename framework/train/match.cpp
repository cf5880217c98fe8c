#include "framework/train/match.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "framework/base/text.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/task.hpp"
#include "framework/seq/cost.hpp"

namespace softalign {
namespace {

constexpr double kTolerance = 0.01;

Spec read(const Value& root) {
  Spec spec;
  read_options(root, spec, "the spec");
  return spec;
}

double difference(Index amount, Index target) {
  return static_cast<double>(amount - target) / static_cast<double>(target);
}

bool within_tolerance(Index amount, Index target) {
  return std::abs(difference(amount, target)) <= kTolerance;
}

std::string amount_text(Index amount, const MatchRequest& request, Index target) {
  return fmt::format("{} {}, {:+.2f} %",
                     with_commas(amount),
                     request.by == "parameters" ? request.by : request.by + " a target symbol",
                     100 * difference(amount, target));
}

// Tries widths for the model of a spec tree. They grow in the ratio in which they were written, one at a time
// if possible, so that several widths can be adjusted as finely as one.
class Widths {
 public:
  struct Tried {
    Index step;
    Index amount;
  };

  Widths(const Value& root, const MatchRequest& request, Index target)
      : root_(root), request_(request), target_(target) {
    const std::vector<OptionLeaf> leaves = option_leaves(read(root));
    for (const std::string& path : request.adjust) adjusted_.push_back(option(leaves, path));
    widest_ = std::ranges::max(adjusted_, {}, &Adjusted::written).written;
  }

  // Returns the step at which all widths are as written.
  Index written() const { return steps() * widest_; }

  std::vector<std::pair<std::string, Index>> changes(Index step) const {
    const std::vector<Index> widths = at(step);
    std::vector<std::pair<std::string, Index>> all;
    for (std::size_t i = 0; i < widths.size(); ++i) all.emplace_back(adjusted_[i].path, widths[i]);
    return all;
  }

  // Returns the amount of a step; empty if there is no such model.
  std::optional<Index> amount_at(Index step) {
    Value root = root_;
    std::vector<std::string> notes;
    try {
      for (const auto& [path, width] : changes(step))
        apply(root, parse_override(fmt::format("{}={}", path, width), {}), notes);
      return amount_of(read(root).model, request_);
    } catch (const SpecError& error) {  // not a multiple of the heads; too large
      fault_ = in_one_line(error);
    } catch (const MachineError& error) {
      fault_ = error.what();
    }
    return std::nullopt;
  }

  // Returns the nearest amounts below and above the target that valid widths have; amounts grow with the step.
  std::vector<Tried> nearest() {
    const Index least = steps(), most = least * kLargestLayer;
    std::optional<Tried> below, above = at_least(least);
    if (!above)
      throw SpecError("no value of {} gives a valid model: {}", adjusted_.front().path, fault_);
    Index wide = least;  // upper bound of the solution after this loop
    while (above && above->amount < target_ && wide < most) {
      below = above;
      wide = std::min(2 * below->step, most);
      above = at_least(wide);
    }
    while (below && wide - below->step > 1) {
      const Index middle = below->step + (wide - below->step) / 2;
      const std::optional<Tried> tried = at_least(middle);
      if (tried && tried->amount < target_) {
        below = tried;
      } else {
        wide = middle;
        above = tried;
      }
    }
    std::vector<Tried> both;
    for (const std::optional<Tried>& one : {below, above})
      if (one) both.push_back(*one);
    return both;
  }

  std::string refused(const std::vector<Tried>& nearest) const {
    std::vector<std::string> texts;
    for (const Tried& one : nearest) {
      std::vector<std::string> widths;
      for (const auto& [path, width] : changes(one.step))
        widths.push_back(fmt::format("{}={}", path, width));
      texts.push_back(fmt::format(
          "{} gives {}", fmt::join(widths, " with "), amount_text(one.amount, request_, target_)));
    }
    return fmt::format("no solution within 1 % of {}: {}; adjust another option, or several",
                       with_commas(target_),
                       fmt::join(texts, ", and "));
  }

 private:
  struct Adjusted {
    std::string path;
    Index written;
  };

  static Adjusted option(const std::vector<OptionLeaf>& leaves, const std::string& path) {
    std::vector<std::string> paths;
    for (const OptionLeaf& leaf : leaves) {
      const bool size = leaf.value.find_first_not_of("0123456789") == std::string::npos &&
                        leaf.value != "0" && leaf.path.starts_with("model.");
      if (size && leaf.path == path) return {path, std::stoll(leaf.value)};
      if (size) paths.push_back(leaf.path);
    }
    throw SpecError(
        "--adjust: '{}' is not a size of this model{}", printable(path), suggestion(path, paths));
  }

  // Returns the number of steps that widen the widest option by one.
  Index steps() const { return adjusted_.size() == 1 ? 1 : 16 * std::ssize(adjusted_); }

  // Returns the widths at a step. Of equal widths, the first one grows first.
  std::vector<Index> at(Index step) const {
    const Index count = std::ssize(adjusted_);
    Index waits = count - 1;
    std::vector<Index> widths;
    for (const Adjusted& one : adjusted_) {
      const Index early = waits-- * (steps() / count) * widest_;
      widths.push_back(std::max<Index>(1, (step * one.written + early) / (steps() * widest_)));
    }
    return widths;
  }

  // Returns the first step from `step` on whose widths are valid, and its amount.
  std::optional<Tried> at_least(Index step) {
    constexpr Index kMostHeads = 256;
    std::vector<Index> before;
    for (Index one = step; one < step + kMostHeads * steps(); ++one)
      if (std::vector<Index> widths = at(one); std::exchange(before, widths) != widths)
        if (const auto amount = amount_at(one)) return Tried{one, *amount};
    return std::nullopt;
  }

  const Value& root_;
  const MatchRequest& request_;
  Index target_;
  std::vector<Adjusted> adjusted_;
  Index widest_ = 0;   // as written
  std::string fault_;  // the last error
};

}  // namespace

Symbols symbols_of(const Spec& spec) {
  const auto task = make_plugin<TaskKind>(spec.task);
  if (const DataOutline outline = task->outline(); outline.measured())
    return {outline.source(), outline.target_symbols};
  const Dataset data =
      task->load(static_cast<std::uint64_t>(spec.seed), [](std::string_view, Index, Index) {});
  return {data.source_format(), data.target->size()};
}

Index amount_of(const ModelOptions& model, const MatchRequest& request) {
  const auto& [source, target] = request.symbols;
  if (request.by == "parameters") return Model(model, source, target).parameters().count();
  return cost_of(model, source, target, {request.lengths.front(), request.lengths.back()})
      .per_symbol();
}

Match match_widths(const Value& root, const MatchRequest& request, Index target) {
  Widths widths(root, request, target);
  const Index written = widths.written();
  if (const auto amount = widths.amount_at(written); amount && within_tolerance(*amount, target))
    return {widths.changes(written), *amount};
  const std::vector<Widths::Tried> nearest = widths.nearest();
  const auto best = std::ranges::min_element(
      nearest, {}, [&](const Widths::Tried& one) { return std::abs(one.amount - target); });
  if (!within_tolerance(best->amount, target)) throw SpecError("{}", widths.refused(nearest));
  return {widths.changes(best->step), best->amount};
}

}  // namespace softalign
