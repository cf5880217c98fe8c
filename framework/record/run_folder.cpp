#include "framework/record/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "framework/base/files.hpp"
#include "framework/base/text.hpp"

namespace softalign {
namespace {

constexpr std::size_t kDigits = 9;  // more than any run has attempts, and one more still fits

std::string numbered(std::string_view prefix, Index number, std::string_view suffix) {
  return fmt::format("{}{:03}{}", prefix, number, suffix);
}

// The numbers of what is called prefix, number, suffix.
std::vector<Index> numbers(const fs::path& folder,
                           std::string_view prefix,
                           std::string_view suffix) {
  std::vector<Index> found;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with(prefix) || name.size() > prefix.size() + kDigits + suffix.size())
      continue;
    Index number = 0;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (number > 0 && name == numbered(prefix, number, suffix)) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw_unreadable(folder, error.value());
  return names;
}

fs::path RunFolder::attempt(Index number) const { return root / numbered("attempt-", number, ""); }

fs::path RunFolder::journal(Index attempt) const {
  return root / numbered("journal-", attempt, ".jrnl");
}

std::vector<Index> RunFolder::attempts() const {
  std::vector<Index> found = attempt_folders();
  std::erase_if(found, [&](Index number) { return !is_there(claim(number)); });
  return found;
}

std::vector<Index> RunFolder::attempt_folders() const { return numbers(root, "attempt-", ""); }

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
      shell_file(run.root.string()));
}

}  // namespace softalign
