#include "framework/config/faults.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

namespace softalign {

void Faults::throw_all() {
  if (list_.empty()) return;
  const auto place = [](const Fault& fault) {
    return std::tie(fault.where.file, fault.where.line, fault.where.column);
  };
  std::stable_sort(list_.begin(), list_.end(), [&](const auto& a, const auto& b) {
    return place(a) < place(b);
  });
  constexpr std::size_t kMost = 20;
  std::vector<std::string> lines;
  for (const Fault& fault : list_) {
    if (lines.size() == kMost) {
      lines.push_back(fmt::format("and {} more", list_.size() - kMost));
      break;
    }
    const std::string text = printable(fault.text, kWhole);
    lines.push_back(fault.where.file.empty() ? text : fault.where.str() + ": " + text);
  }
  throw SpecError("{}", fmt::join(lines, "\n"));
}

}  // namespace softalign
