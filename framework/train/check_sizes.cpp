#include "framework/train/check_sizes.hpp"

#include "framework/config/spec.hpp"

namespace softalign {
namespace {

constexpr double kNearly = 0.8;  // of what there is: a note from here on

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
      check.side_by_side > 1 ? fmt::format(" by each of {} side by side", check.side_by_side) : "",
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
      MemoryMeter(check.machine.limit).of_run(resolved.spec, data, threads);
  if (needed != nullptr) *needed = estimate;
  return check_sizes(estimate, check, resolved.origins);
}

}  // namespace softalign
