#include "framework/runs/row_progress.hpp"

#include <algorithm>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/status.hpp"

namespace softalign {

void RowProgress::look() {
  try {
    const std::vector<Index> journals = run_.journals();
    if (journals.empty()) return;
    if (journals.back() != attempt_) {
      attempt_ = journals.back();
      tail_ = std::make_unique<JournalTail>(run_.journal(attempt_));
      first_update_ = -1;
    }
    for (const Frame& frame : tail_->next()) {
      const auto* const scalars = std::get_if<Scalars>(&frame);
      if (!scalars) continue;
      for (const auto& [name, value] : scalars->values)
        if (scalars->series + "/" + name == metric_) value_ = value;
      if (scalars->series != "train") continue;
      update_ = scalars->update;
      last_time_ = scalars->wall_time;
      if (first_update_ < 0) {
        first_update_ = update_;
        first_time_ = last_time_;
      }
    }
    if (updates_ == 0) updates_ = run_status(run_).updates;
  } catch (const Error&) {  // incomplete, corrupt or unreadable: reported by its worker
  }
}

double RowProgress::seconds_per_update() const {
  if (updates_ == 0 || update_ <= first_update_) return kUndefined;
  return (last_time_ - first_time_) / static_cast<double>(update_ - first_update_);
}

double RowProgress::seconds_left() const {
  return static_cast<double>(std::max<Index>(0, updates_ - update_)) * seconds_per_update();
}

}  // namespace softalign
