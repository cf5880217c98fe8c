#include "framework/record/journal/beginning.hpp"

#include "framework/record/journal/history.hpp"

namespace softalign {

std::optional<Beginning> beginning_of(const RunFolder& run,
                                      const std::string& run_id,
                                      const std::function<bool(const Checkpoint&)>& serves) {
  History history = read_history(run);
  check_journals(history, run, run_id);
  for (std::size_t i = history.live.size(); i-- > 0;) {
    const auto* mark = std::get_if<CheckpointMark>(&history.live[i]);
    if (!mark) continue;
    std::optional<Blobs> blobs = load_checkpoint(run.checkpoints(), *mark);
    if (!blobs) continue;
    Checkpoint state{mark->update, std::move(*blobs)};
    if (!serves(state)) continue;
    history.live.resize(i);
    return Beginning{std::move(history.live), std::move(state)};
  }
  return std::nullopt;
}

}  // namespace softalign
