#include "framework/record/journal/copy_until.hpp"

#include "framework/base/path.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/journal/history.hpp"

namespace softalign {
namespace {

// The place of the mark in the history; nothing when no checkpoint serves.
std::optional<std::size_t> newest_before_end(const History& history,
                                             const fs::path& folder,
                                             Index latest,
                                             Index last) {
  std::optional<std::size_t> of_last;
  for (std::size_t i = history.live.size(); i-- > 0;) {
    const auto* mark = std::get_if<CheckpointMark>(&history.live[i]);
    if (!mark || mark->update > latest || !load_checkpoint(folder, *mark)) continue;
    if (mark->update < last) return i;
    of_last = i;
  }
  // Behind the checkpoint of a pruned run there is nothing.
  return history.end_state() == to_string(RunState::complete) ? of_last : std::nullopt;
}

}  // namespace

std::optional<Index> copy_until_checkpoint(FileSystem& files,
                                           const RunFolder& run,
                                           const std::string& run_id,
                                           const RunFolder& copy,
                                           Index latest,
                                           Index last) {
  const History history = read_history(run);
  check_journals(history, run, run_id);
  const auto place = newest_before_end(history, run.checkpoints(), latest, last);
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
