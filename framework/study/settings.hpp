// What a plan keeps of its sweep's file: how rows are listed, compared and stopped early.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/config/fields.hpp"
#include "framework/config/options.hpp"
#include "framework/study/parameter.hpp"

namespace softalign {

struct ComparedMetric {
  std::string name = "dev/loss";
  std::string goal = "";  // minimize or maximize; filled by read_sweep
  template <class V>
  void describe(V& v) {
    v("name", name, "dev metric that runs are compared by, \"dev/\" and the name of a metric");
    v("goal",
      goal,
      "minimize or maximize; the metric's own direction when not given",
      one_of("minimize", "maximize"));
  }
};

struct EarlyTerminateOptions {
  std::string type = "none";
  Index min_updates = 1000;
  Index eta = 3;
  Index startup = 5;
  template <class V>
  void describe(V& v) {
    v("type", type, "rule that stops runs early", one_of("none", "asha", "median"));
    v("min_updates", min_updates, "no run is stopped before so many updates", at_least(1));
    v("eta",
      eta,
      "ASHA reduction factor: one of so many runs is promoted at each rung",
      between(2, 100));
    v("startup", startup, "median: runs to compare with before any is stopped", at_least(1));
  }
};

enum class SweepMethod { variants, grid, random, zip, optuna };
std::string_view to_string(SweepMethod method);
bool from_string(std::string_view name, SweepMethod& method);

// What a plan keeps of its sweep's file.
struct SweepSettings {
  std::string name;
  SweepMethod method = SweepMethod::grid;
  ComparedMetric metric;
  EarlyTerminateOptions early_terminate;
  std::vector<Index> seeds = {1};
  Index search_seed = 1;
  std::vector<SweepParameter> parameters;  // in the order written: the last varies fastest

  template <class V>
  void describe(V& v) {
    v("name", name);
    v("method", method);
    v("metric", metric);
    v("early_terminate", early_terminate);
    v("seeds", seeds);
    v("search_seed", search_seed);
    v("parameters", parameters);
  }
};

// The keys seeds, metric and early_terminate. Throws SpecError.
void read_settings(Fields& fields, const Position& where, SweepSettings& settings);

}  // namespace softalign
