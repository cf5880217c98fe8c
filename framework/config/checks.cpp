#include "framework/config/checks.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

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

}  // namespace softalign
