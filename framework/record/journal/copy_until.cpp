#include "framework/record/journal/copy_until.hpp"

#include <utility>

#include "framework/base/path.hpp"
#include "framework/record/journal/history.hpp"

namespace softalign {
namespace {

// The place of the mark in the history; nothing when no checkpoint serves.
std::optional<std::size_t> newest_before_end(const History& history,
                                             const fs::path& folder,
                                             Index latest) {
  std::optional<std::size_t> of_end;
  bool is_last = true;
  for (std::size_t i = history.live.size(); i-- > 0;) {
    const auto* mark = std::get_if<CheckpointMark>(&history.live[i]);
    if (!mark) continue;
    const bool ends = std::exchange(is_last, false) && history.end_state();
    if (mark->update > latest || !load_checkpoint(folder, *mark)) continue;
    if (!ends) return i;
    of_end = i;
  }
  return of_end;
}

}  // namespace

std::optional<Index> copy_until_checkpoint(FileSystem& files,
                                           const RunFolder& run,
                                           const RunFolder& copy,
                                           Index latest) {
  const History history = read_history(run);
  const auto place = newest_before_end(history, run.checkpoints(), latest);
  if (!place) return std::nullopt;
  const auto& mark = std::get<CheckpointMark>(history.live[*place]);
  files.make_folders(copy.root);
  JournalHeader header = history.attempts.back().header;
  header.attempt = 1;
  JournalWriter journal(files, copy.journal(header.attempt), header);
  journal.append(Rewind{});
  for (std::size_t i = 0; i <= *place; ++i) journal.append(history.live[i]);
  save_checkpoint(
      files, copy.checkpoints(), mark.update, *load_checkpoint(run.checkpoints(), mark));
  return mark.update;
}

}  // namespace softalign
