// What a run can begin with instead of nothing: all that another run recorded until a checkpoint.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/record/journal/checkpoint.hpp"
#include "framework/record/run_folder.hpp"

namespace softalign {

struct Beginning {
  std::vector<Frame> frames;  // without the checkpoint's mark
  Checkpoint state;
};

// With the newest checkpoint of a run that is whole and that `serves`; nothing where there is none.
// Throws as read_history and check_journals do.
std::optional<Beginning> beginning_of(const RunFolder& run,
                                      const std::string& run_id,
                                      const std::function<bool(const Checkpoint&)>& serves);

}  // namespace softalign
