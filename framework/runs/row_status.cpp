#include "framework/runs/row_status.hpp"

#include <limits>

#include "framework/config/scalar.hpp"
#include "framework/record/file.hpp"

namespace softalign {

RowStatus row_status(const RunList& list, const ListedRun& row, const ProofOfDeath& proof) {
  return row_status(list, row, run_status(list.run(row), proof));
}

RowStatus row_status(const RunList& list, const ListedRun& row, RunStatus run) {
  RowStatus status{std::move(run), {}};
  const std::filesystem::path failure = list.place().failure(row.run_id);
  if ((status.state == RunState::planned || status.state == RunState::failed) &&
      is_there(failure)) {
    status.state = RunState::failed;
    status.fault = std::string(trimmed(read_file(failure)));
  }
  return status;
}

double metric_of(const RunList& list, const RunStatus& row) {
  for (const auto& [name, value] : row.metrics)
    if (name == list.options.metric.name) return value;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace softalign
