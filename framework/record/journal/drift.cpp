#include "framework/record/journal/drift.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

// What a frame holds that does not depend on the clock: name and update, to the bytes.
std::vector<std::pair<std::string, std::string>> facts(const Frame& frame) {
  std::vector<std::pair<std::string, std::string>> list;
  const auto add = [&](const std::string& path, Index update, std::string bytes) {
    if (!is_volatile(path))
      list.emplace_back(fmt::format("{} at update {}", path, update), std::move(bytes));
  };
  if (const auto* s = std::get_if<Scalars>(&frame)) {
    for (const auto& [name, value] : s->values) {
      ByteWriter bytes;
      bytes.number(std::isnan(value) ? kUndefined : value);
      add(s->series + "/" + name, s->update, bytes.bytes());
    }
  } else if (const auto* a = std::get_if<Alignment>(&frame)) {
    const auto path =
        fmt::format("alignments/{} of sentence {} head {}", a->module, a->sentence, a->head);
    add(path, a->update, encode(frame));
  } else if (const auto* array = std::get_if<Array>(&frame)) {
    Array numbers = *array;
    numbers.attributes = "{}";  // words about them
    add(array->group + "/" + array->name, array->update, encode(numbers));
  }
  return list;
}

std::string value_text(const std::string& bytes) {
  if (bytes.size() != sizeof(double)) return "another value";
  double value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return fmt::format("{}", value);
}

}  // namespace

bool is_volatile(std::string_view path) {
  static constexpr std::array<std::string_view, 3> kGroups{"provenance", "timing", "system"};
  static constexpr std::array<std::string_view, 5> kNames{
      "wall_time", "seconds", "@created", "@framework_version", "@name"};
  const std::string_view top = path.substr(0, path.find_first_of("/@"));
  const std::string_view name = path.substr(path.find_last_of("/@") + 1);
  const auto is_named = [&](std::string_view volatile_name) {
    return volatile_name.starts_with('@') ? path == volatile_name : name == volatile_name;
  };
  return std::find(kGroups.begin(), kGroups.end(), top) != kGroups.end() ||
         std::any_of(kNames.begin(), kNames.end(), is_named) || name.ends_with("_per_s") ||
         name.ends_with("_seconds");
}

DriftCheck::DriftCheck(const std::vector<Frame>& superseded) {
  for (const Frame& frame : superseded)
    for (auto& [what, bytes] : facts(frame)) expected_[what] = std::move(bytes);
}

void DriftCheck::look(const Frame& frame) {
  if (expected_.empty() || difference_) return;
  for (const auto& [what, bytes] : facts(frame)) {
    const auto before = expected_.find(what);
    if (before == expected_.end() || before->second == bytes) continue;
    difference_ = fmt::format(
        "{} is {}, an earlier attempt had {}", what, value_text(bytes), value_text(before->second));
    return;
  }
}

}  // namespace softalign
