#include "framework/runs/row_status.hpp"

#include <limits>

#include "framework/base/path.hpp"
#include "framework/base/types.hpp"
#include "framework/config/scalar.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/train/shorter_run.hpp"

namespace softalign {

RowStatus row_status(const RunList& list, const ListedRun& row, const ProofOfDeath& proof) {
  return row_status(list, row, [&] { return RowStatus{run_status(list.run(row), proof), {}}; });
}

RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const std::function<RowStatus()>& look) {
  try {
    RowStatus status = look();
    const std::filesystem::path failure = list.place().failure(row.run_id);
    const bool trained = status.state == RunState::trained;
    if ((status.state == RunState::planned || status.state == RunState::failed || trained) &&
        is_there(failure)) {
      if (!trained) status.state = RunState::failed;
      status.fault = std::string(trimmed(read_file(failure)));
    }
    return status;
  } catch (const std::bad_alloc&) {  // the machine's, whatever the row
    throw;
  } catch (const std::exception& error) {
    RowStatus status;
    status.state = RunState::unreadable;
    status.fault = message_of(error);
    return status;
  }
}

std::vector<std::string> state_texts(const RunList& list, const std::vector<RowStatus>& rows) {
  const fs::path results = whole_path(list.folder).parent_path();
  const bool prunes = list.early_terminate.type != "none";  // such rows begin anew
  std::vector<RunFolder> runs;
  if (is_there(results)) runs = runs_below(results);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    texts.emplace_back(to_string(rows[i].state));
    if (rows[i].state != RunState::planned || prunes) continue;
    try {
      const auto others = complete_elsewhere(runs, list.run(list.rows[i]));
      if (!others.empty())
        texts.back() = "complete as " +
                       printable(others.front().root.lexically_relative(results).string(), kWhole);
    } catch (const MachineError& error) {  // nobody knows what that one is
      texts.back() += fmt::format("; {}", in_one_line(error));
    }
  }
  return texts;
}

double metric_of(const RunList& list, const RunStatus& row) {
  for (const auto& [name, value] : row.metrics)
    if (name == list.metric.name) return value;
  return kUndefined;
}

}  // namespace softalign
