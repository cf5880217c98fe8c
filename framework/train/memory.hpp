// Estimates the peak memory of a run or an evaluation. There are no formulas for models: their memory is
// measured on a few small batches, without computing products, and extrapolated to the longest batch; the
// rest is counted.
//
//   MemoryMeter meter(machine_memory().limit);
//   MemoryEstimate estimate = meter.of_run(spec, make_plugin<TaskKind>(spec.task)->outline(), threads);
#pragma once

#include <string>
#include <vector>

#include "framework/data/task.hpp"
#include "framework/eval/search.hpp"
#include "framework/train/batch_meter.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

struct MemoryPart {
  std::string what;
  double bytes;
  std::string key;       // the option, or its block, that it grows with
  bool in_turn = false;  // such parts are never in memory together: only the largest counts
};

struct MemoryEstimate {
  std::vector<MemoryPart> parts;
  bool known = true;     // false: lengths and symbols are upper bounds that the data may not reach
  double bytes() const;  // at the peak
  const MemoryPart& largest() const;
};

// The evaluation of a split; fields as in EvaluationRequest. search: null for teacher-forced evaluation only.
struct EvaluationLoad {
  DataOutline::SplitOutline split;
  const Choice* search = nullptr;
  Index batch = 64;
  Index keep = 0;
  bool heads = false;
  bool self_attention = false;
  bool decoder_self_attention = false;
};

class MemoryMeter {
 public:
  // No batch is measured for a run that needs more than `most` bytes without one: its estimate is a lower
  // bound. exact: see BatchMeter.
  explicit MemoryMeter(double most, double exact = 16e6);
  // Estimates a run with this number of threads. ranks: processes that share the run; the estimate is that of
  // the first. Both functions throw SpecError if a model cannot be built.
  MemoryEstimate of_run(const Spec& spec, const DataOutline& data, int threads, int ranks = 1);
  // Estimates an evaluation by trained models that are in memory together. data: their vocabulary sizes, and
  // the examples that are still to be loaded.
  MemoryEstimate of_evaluation(const std::vector<const Spec*>& specs,
                               const DataOutline& data,
                               const EvaluationLoad& load,
                               int threads);

 private:
  double training(const Spec& spec, const DataOutline& data, int threads);
  struct Evaluation {
    double bytes = 0;
    double kept = 0;    // the part of `bytes` for recorded matrices
    double result = 0;  // the part of `bytes` that stays in memory afterwards
    std::string key;
  };
  Evaluation evaluation(const std::vector<const Spec*>& specs,
                        const DataOutline& data,
                        const EvaluationLoad& load,
                        int threads);

  std::vector<MemoryPart> diagnostics(const Spec& spec, const DataOutline& data, int threads);

  double most_;
  double held_;  // bytes in memory before anything was measured
  BatchMeter batches_;
};

}  // namespace softalign
