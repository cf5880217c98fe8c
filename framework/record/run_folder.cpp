#include "framework/record/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace softalign {
namespace fs = std::filesystem;
namespace {

// The number between prefix and suffix, or none when the name has another form.
std::optional<Index> number_in(std::string_view name,
                               std::string_view prefix,
                               std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  if (name.size() <= prefix.size() + suffix.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  Index number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::vector<Index> numbers(const fs::path& folder,
                           std::string_view prefix,
                           std::string_view suffix) {
  std::vector<Index> found;
  if (!fs::is_directory(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto number = number_in(entry.path().filename().string(), prefix, suffix))
      found.push_back(*number);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

fs::path RunFolder::attempt(Index number) const {
  return root / fmt::format("attempt-{:03}", number);
}

fs::path RunFolder::journal(Index attempt) const {
  return root / fmt::format("journal-{:03}.jrnl", attempt);
}

std::vector<Index> RunFolder::attempts() const {
  std::vector<Index> found = numbers(root, "attempt-", "");
  std::erase_if(found, [&](Index number) { return !fs::exists(claim(number)); });
  return found;
}

std::vector<Index> RunFolder::journals() const { return numbers(root, "journal-", ".jrnl"); }

fs::path folder_of(const fs::path& record) {
  return record.has_parent_path() ? record.parent_path() : fs::path(".");
}

std::string remedy_for(const fs::path& record) {
  const RunFolder run{folder_of(record)};
  if (record.filename() != run.record().filename() || run.journals().empty())
    return "copy it again, or run its spec again with --force";
  return fmt::format(
      "`softalign recover {}` makes it again from its journals, or run its spec again with --force",
      run.root.string());
}

}  // namespace softalign
