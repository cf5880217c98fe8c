#include "framework/config/checks.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on
#include <algorithm>
#include <tuple>

namespace softalign {
namespace {

std::string located(const Origins& origins, const std::string& message) {
  if (begins_with_position(message)) return message;
  std::string option = message.substr(0, message.find(": "));
  for (;;) {
    const auto given = origins.lower_bound(option);  // it, or the first of its block
    if (given != origins.end() &&
        (given->first == option || given->first.starts_with(option + ".")))
      return fmt::format("{}: {}", given->second.str(), message);
    const std::size_t dot = option.rfind('.');
    if (dot == option.npos) return message;
    option.resize(dot);
  }
}

}  // namespace

bool Checks::pass(const std::function<void()>& check) {
  try {
    check();
    return true;
  } catch (const SpecError& error) {
    faults_.push_back(located(origins_, error.what()));
    return false;
  }
}

void Checks::finish() const {
  if (!faults_.empty()) throw SpecError("{}", fmt::join(faults_, "\n"));
}

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
