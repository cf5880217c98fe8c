#include "framework/train/check_sizes.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <cmath>
#include <optional>

#include "framework/config/checks.hpp"
#include "framework/config/writer.hpp"

namespace softalign {
namespace {

constexpr double kNearly = 0.8;  // of what there is: told

// An option that is a whole number, or a list of them whose last counts.
struct Size {
  std::string path;
  std::vector<Index> values;
  Index least;
  bool list;
  bool in_spec = true;  // false: an argument of the command, "--threads"

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
    sizes.push_back({node.path, {*one}, least, false});
  if (const auto* many = std::get_if<std::vector<Index>>(&node.value);
      many && !many->empty() && many->back() > std::max(least, kSmall))
    sizes.push_back({node.path, *many, least, true});
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

  // "a: 9 -> 3 would fit, or b: 8 -> 2"; empty: nothing that was tried would.
  std::string remedy(double bytes,
                     const std::vector<std::string>& open,
                     const std::string& without) {
    std::vector<const Size*>
        alone;  // those that matter, without the model first: it is what people study
    for (const bool of_model : {false, true}) {
      for (const Size& size : sizes_) {
        const bool may = std::ranges::any_of(open, [&](const std::string& head) {
          return size.path.starts_with(head) || !size.in_spec;
        });
        if (!may || size.path.starts_with("model.") != of_model) continue;
        if (const auto less = with({&size}, 0.5); less && *less < 0.9 * bytes)
          alone.push_back(&size);
      }
      std::vector<std::string> found;
      for (const Size* size : alone)
        if (const auto share = largest_share({size}))
          found.push_back(change(*size, *share, without));
      if (!found.empty()) return fmt::format("{} would fit", fmt::join(found, ", or "));
    }
    std::vector<std::string> together;
    if (const auto share = largest_share(alone))
      for (const Size* size : alone) together.push_back(change(*size, *share, without));
    return together.empty() ? "" : fmt::format("{} would fit", fmt::join(together, " with "));
  }

 private:
  static Index lowered(const Size& size, double share) {
    return std::max(size.least, static_cast<Index>(share * static_cast<double>(size.value())));
  }

  static std::string change(const Size& size, double share, const std::string& without) {
    const bool cut = size.path.starts_with(without);
    return fmt::format("{}: {} -> {}",
                       cut ? size.path.substr(without.size()) : size.path,
                       size.text(size.value()),
                       size.text(lowered(size, share)));
  }

  // Bytes with these at that share of their values; nothing where the spec is none then.
  std::optional<double> with(const std::vector<const Size*>& sizes, double share) const {
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
      return static_cast<double>(side_by_side) *
             estimate_(resolve<Spec>(std::move(tree)).spec, threads).bytes();
    } catch (const SpecError&) {
      return std::nullopt;
    }
  }

  std::optional<double> largest_share(const std::vector<const Size*>& sizes) const {
    const auto fits = [&](double share) {
      const auto bytes = with(sizes, share);
      return bytes && *bytes <= check_.machine.limit;
    };
    if (sizes.empty() || !fits(0)) return std::nullopt;
    double low = 0, high = 1;  // in even steps of the logarithm
    for (int step = 0; step < 9; ++step) {
      const double middle = low > 0 ? std::sqrt(low * high) : high / 16;
      (fits(middle) ? low : high) = middle;
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
  const MemoryEstimate one = estimate(resolved.spec, threads);
  const double bytes = static_cast<double>(check.side_by_side) * one.bytes();
  if (bytes <= kNearly * check.machine.limit) return "";
  const std::string what = fmt::format(
      "about {} of memory would be needed{} ({}), and {} is {}",
      bytes_text(bytes),
      check.side_by_side > 1 ? fmt::format(" by {} side by side", check.side_by_side) : "",
      largest_parts(one),
      check.machine.limited_by,
      bytes_text(check.machine.limit));
  if (bytes <= check.machine.limit || !check.refuse) return "note: " + what;
  const std::string remedy =
      Lowering(resolved, estimate, threads, check).remedy(bytes, open, without);
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
                            MemoryEstimate* told) {
  MemoryMeter meter(check.machine.limit);
  const EstimateMemory estimate = [&](const Spec& spec, int on) {
    const DataOutline outline = make_plugin<TaskKind>(spec.task)->outline();
    return meter.of_run(spec, outline.test.examples > 0 ? outline : data, on);  // made, or read
  };
  if (told != nullptr) *told = estimate(resolved.spec, threads);
  return check_sizes(resolved, estimate, threads, check);
}

}  // namespace softalign
