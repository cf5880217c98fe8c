#include "framework/train/check_sizes.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <cmath>
#include <optional>

#include "framework/config/checks.hpp"
#include "framework/config/writer.hpp"

namespace softalign {
namespace {

constexpr double kNearly = 0.8;  // of what there is: a note from here on

// An option that is a whole number, or a list of them whose last counts.
struct Size {
  std::string path;
  std::vector<Index> values;
  Index least;
  bool list;
  bool changes_run;  // another value makes another run

  bool in_spec() const { return !path.starts_with("--"); }  // or an argument, "--threads"
  Index value() const { return values.back(); }
  std::string text(Index value) const {
    if (!list) return fmt::format("{}", value);
    std::vector<Index> lowered = values;
    for (Index& one : lowered) one = std::min(one, value);
    return fmt::format("[{}]", fmt::join(lowered, ", "));
  }
};

void collect_sizes(const OptionNode& node, std::vector<Size>& sizes) {
  for (const OptionNode& child : node.children) collect_sizes(child, sizes);
  if (node.absent) return;
  constexpr Index kSmall = 10;  // no machine is too small for that
  const auto least = static_cast<Index>(std::max(1.0, node.limits.low));
  if (const auto* one = std::get_if<Index>(&node.value); one && *one > std::max(least, kSmall))
    sizes.push_back({node.path, {*one}, least, false, node.limits.changes_run});
  if (const auto* many = std::get_if<std::vector<Index>>(&node.value);
      many && !many->empty() && many->back() > std::max(least, kSmall))
    sizes.push_back({node.path, *many, least, true, node.limits.changes_run});
}

class Lowering {
 public:
  Lowering(const ResolvedSpec<Spec>& resolved,
           const EstimateMemory& estimate,
           int threads,
           const SizeCheck& check)
      : tree_(parse_tree(resolved_yaml(resolved.spec), "spec")),
        estimate_(estimate),
        threads_(threads),
        check_(check) {
    collect_sizes(values_of(resolved.spec), sizes_);
    if (threads > 1) sizes_.push_back({"--threads", {threads}, 1, false, false});
    if (check.side_by_side > 1)
      sizes_.push_back({"--workers", {check.side_by_side}, 1, false, false});
  }

  // "a: 9 -> 3, or b: 8 -> 2 with c: 7 -> 2 would fit"; empty: nothing that was tried would. What changes
  // no number comes first, and the model last: it is what people study.
  std::string remedy(const std::vector<std::string>& open, const std::string& without) const {
    const auto change = [&](const Size& size, double share) {
      return fmt::format("{}: {} -> {}",
                         size.path.substr(size.path.starts_with(without) ? without.size() : 0),
                         size.text(size.value()),
                         size.text(lowered(size, share)));
    };
    const double all = with({}, 1)->sum();
    Sizes matter;
    for (const Effect effect : {Effect::none, Effect::on_run, Effect::on_model}) {
      for (const Size& size : sizes_) {
        const bool may = !size.in_spec() || std::ranges::any_of(open, [&](const std::string& head) {
          return size.path.starts_with(head);
        });
        if (!may || effect_of(size) != effect) continue;
        if (const auto less = with({&size}, 0); less && less->sum() < 0.9 * all)
          matter.push_back(&size);
      }
      std::vector<std::string> found;
      Sizes rest;  // that are not enough alone
      for (const Size* size : matter)
        if (const auto share = largest_share({size}))
          found.push_back(change(*size, *share));
        else
          rest.push_back(size);
      for (Sizes together : {rest, matter}) {
        const auto share = rest.empty() ? std::nullopt : largest_share(together);
        if (!share) continue;
        const Sizes tried = together;
        for (auto size = tried.rbegin(); size != tried.rend(); ++size)
          if (Sizes fewer = without_one(together, *size); fits(fewer, *share)) together = fewer;
        std::vector<std::string> changes;
        for (const Size* size : together) changes.push_back(change(*size, *share));
        found.push_back(fmt::format("{}", fmt::join(changes, " with ")));
        break;
      }
      if (!found.empty()) return fmt::format("{} would fit", fmt::join(found, ", or "));
    }
    return "";
  }

 private:
  using Sizes = std::vector<const Size*>;
  enum class Effect { none, on_run, on_model };

  static Effect effect_of(const Size& size) {
    if (!size.changes_run) return Effect::none;
    return size.path.starts_with("model.") ? Effect::on_model : Effect::on_run;
  }

  static Sizes without_one(Sizes sizes, const Size* one) {
    std::erase(sizes, one);
    return sizes;
  }

  static Index lowered(const Size& size, double share) {
    return std::max(size.least, static_cast<Index>(share * static_cast<double>(size.value())));
  }

  // With these at that share of their values; nothing where the spec is none then.
  std::optional<MemoryEstimate> with(const Sizes& sizes, double share) const {
    SpecTree tree = tree_;
    int threads = threads_;
    Index side_by_side = check_.side_by_side;
    try {
      for (const Size* size : sizes) {
        const Index value = lowered(*size, share);
        if (size->path == "--threads")
          threads = static_cast<int>(value);
        else if (size->path == "--workers")
          side_by_side = value;
        else
          apply(tree.root,
                parse_override(fmt::format("{}={}", size->path, size->text(value)), {"spec"}),
                tree.notes);
      }
      return estimate_(resolve<Spec>(std::move(tree)).spec, threads).times(side_by_side);
    } catch (const SpecError&) {
      return std::nullopt;
    } catch (const DataError&) {  // data that its encoder cannot read
      return std::nullopt;
    }
  }

  bool fits(const Sizes& sizes, double share) const {
    const auto estimate = with(sizes, share);
    return estimate && estimate->bytes() <= kNearly * check_.machine.limit;
  }

  std::optional<double> largest_share(const Sizes& sizes) const {
    if (!fits(sizes, 0)) return std::nullopt;
    double low = 0, high = 1;  // in even steps of the logarithm
    for (int step = 0; step < 9; ++step) {
      const double middle = low > 0 ? std::sqrt(low * high) : high / 16;
      (fits(sizes, middle) ? low : high) = middle;
    }
    return low;
  }

  SpecTree tree_;
  const EstimateMemory& estimate_;
  int threads_;
  const SizeCheck& check_;
  std::vector<Size> sizes_;
};

std::string largest_parts(const MemoryEstimate& estimate) {
  std::vector<MemoryPart> parts = estimate.parts;
  std::ranges::stable_sort(parts, std::ranges::greater{}, &MemoryPart::bytes);
  parts.resize(std::min<std::size_t>(2, parts.size()));
  std::vector<std::string> texts;
  for (const MemoryPart& part : parts)
    texts.push_back(fmt::format("{} {}", part.what, bytes_text(part.bytes)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string check_sizes(const ResolvedSpec<Spec>& resolved,
                        const EstimateMemory& estimate,
                        int threads,
                        const SizeCheck& check,
                        const std::vector<std::string>& open,
                        const std::string& without) {
  const MemoryEstimate all = estimate(resolved.spec, threads).times(check.side_by_side);
  const double bytes = all.bytes();
  if (bytes <= kNearly * check.machine.limit) return "";
  const std::string what = fmt::format(
      "about {} of memory would be needed{} ({}), and {} is {}",
      bytes_text(bytes),
      check.side_by_side > 1 ? fmt::format(" by {} side by side", check.side_by_side) : "",
      largest_parts(all),
      check.machine.limited_by,
      bytes_text(check.machine.limit));
  if (bytes <= check.machine.limit || !check.refuse) return "note: " + what;
  const std::string remedy = Lowering(resolved, estimate, threads, check).remedy(open, without);
  Checks checks(resolved.origins);
  checks.pass([&] {
    throw SpecError("{}{}; --no-size-check goes on", remedy.empty() ? "" : remedy + ": ", what);
  });
  checks.finish();
  return "";
}

std::string check_run_sizes(const ResolvedSpec<Spec>& resolved,
                            const DataOutline& data,
                            int threads,
                            const SizeCheck& check,
                            MemoryEstimate* needed) {
  MemoryMeter meter(check.machine.limit);
  const EstimateMemory estimate = [&](const Spec& spec, int on) {
    const DataOutline outline = make_plugin<TaskKind>(spec.task)->outline();
    return meter.of_run(spec, outline.test.examples > 0 ? outline : data, on);  // made, or read
  };
  if (needed != nullptr) *needed = estimate(resolved.spec, threads);
  return check_sizes(resolved, estimate, threads, check);
}

}  // namespace softalign
