#include "framework/train/value_sources.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/scalar.hpp"
#include "framework/config/writer.hpp"

namespace softalign {
namespace {

bool begins_with_any(std::string_view path, const std::vector<std::string_view>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [&](std::string_view block) {
    return path.starts_with(block);
  });
}

bool names_source(std::string_view comment) {
  return std::any_of(kSourceWords.begin(), kSourceWords.end(), [&](std::string_view word) {
    return comment.starts_with(word);
  });
}

bool is_unread(const std::string& path, const std::vector<std::string>& unread) {
  return std::any_of(unread.begin(), unread.end(), [&](const std::string& option) {
    return path == option || path.starts_with(option + ".");
  });
}

// The lines of files, each read once.
class Comments {
 public:
  bool name_source_of(const Position& place) {
    if (place.line == 0) return false;  // an override
    const std::vector<std::string>& lines = lines_of(place.file);
    auto line = usize(place.line) - 1;
    if (line >= lines.size()) return false;
    for (auto at = lines[line].find(" #"); at != std::string::npos;
         at = lines[line].find(" #", at + 1))
      if (names_source(trimmed(std::string_view(lines[line]).substr(at + 2)))) return true;
    while (line-- > 0) {
      const std::string_view above = trimmed(lines[line]);
      if (!above.starts_with('#')) return false;
      if (names_source(trimmed(above.substr(1)))) return true;
    }
    return false;
  }

 private:
  const std::vector<std::string>& lines_of(const std::string& file) {
    const auto [found, fresh] = files_.try_emplace(file);
    std::ifstream in(file);
    for (std::string line; fresh && std::getline(in, line);) found->second.push_back(line);
    return found->second;
  }

  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace

ValueSources value_sources(const ResolvedSpec<Spec>& resolved, const std::string& file) {
  ValueSources result;
  Comments comments;
  const std::string words = fmt::format("# {}", fmt::join(kSourceWords, ", # "));
  for (const OptionLeaf& leaf : option_leaves(resolved.spec)) {
    const auto given = resolved.origins.find(leaf.path);
    const bool written = given != resolved.origins.end();
    if (!begins_with_any(leaf.path, {"task.", "model.", "init.", "train.", "evaluate."})) continue;
    if (!written &&
        (leaf.value == "null" || is_unread(leaf.path, resolved.unread) ||
         !begins_with_any(leaf.path, {"task.", "model.", "train.", "evaluate.search."})))
      continue;
    ++result.values;
    if (!written)
      result.without.push_back(
          fmt::format("{}: {}: {} is a default and has no source; write it with one",
                      printable(file, kWhole),
                      leaf.path,
                      leaf.value));
    else if (!comments.name_source_of(given->second))
      result.without.push_back(fmt::format("{}: {}: {} has no source; write behind it one of {}",
                                           given->second.str(),
                                           leaf.path,
                                           leaf.value,
                                           words));
  }
  return result;
}

}  // namespace softalign
