#include "framework/sweep/row_state.hpp"

#include <limits>

#include "framework/config/scalar.hpp"
#include "framework/record/file.hpp"

namespace softalign {
namespace {

namespace fs = std::filesystem;

RowState row_state(RunState state) {
  switch (state) {
    case RunState::absent:
      return RowState::planned;
    case RunState::claimed:
      return RowState::claimed;
    case RunState::running:
      return RowState::running;
    case RunState::interrupted:
      return RowState::interrupted;
    case RunState::complete:
      return RowState::complete;
    case RunState::pruned:
      return RowState::pruned;
    case RunState::failed:
      return RowState::failed;
    case RunState::lost:
      return RowState::lost;
  }
  return RowState::planned;
}

}  // namespace

std::string_view to_string(RowState state) {
  constexpr std::string_view names[] = {"planned",
                                        "claimed",
                                        "running",
                                        "interrupted",
                                        "complete",
                                        "pruned",
                                        "failed",
                                        "lost",
                                        "corrupt"};
  return names[static_cast<std::size_t>(state)];
}

RowStatus row_status(const SweepPlan& plan, const SweepRow& row, const ProofOfDeath& proof) {
  return row_status(plan, row, run_status(plan.run(row), proof));
}

RowStatus row_status(const SweepPlan& plan, const SweepRow& row, RunStatus run) {
  RowStatus status;
  status.run = std::move(run);
  status.state = row_state(status.run.state);
  const fs::path failure = plan.place().failure(row.run_id);
  if ((status.state == RowState::planned || status.state == RowState::failed) &&
      fs::exists(failure)) {
    status.state = RowState::failed;
    status.fault = std::string(trimmed(read_file(failure)));
  }
  return status;
}

double metric_of(const SweepPlan& plan, const RowStatus& row) {
  for (const auto& [name, value] : row.run.metrics)
    if (name == plan.metric.name) return value;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace softalign
