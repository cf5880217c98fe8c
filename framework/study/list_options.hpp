// What sweeps and studies have in common: how their runs are compared, stopped early and handed to a
// cluster.
#pragma once

#include <string>
#include <vector>

#include "framework/config/fields.hpp"
#include "framework/config/options.hpp"
#include "framework/config/value.hpp"

namespace softalign {

struct ComparedMetric {
  std::string name = "dev/loss";
  std::string goal = "";  // minimize or maximize; filled by read_list_options
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
    v("eta", eta, "asha: one of so many runs goes on at each rung", between(2, 100));
    v("startup", startup, "median: runs to compare with before any is stopped", at_least(1));
  }
};

struct ListOptions {
  std::vector<Index> seeds = {1};
  ComparedMetric metric;
  EarlyTerminateOptions early_terminate;  // runs/early_termination.hpp
  Value resources = {};                   // slurm_resources.hpp; null: none
};

// The keys seeds, metric, early_terminate and resources of a sweep's or a study's file. Throws
// SpecError.
ListOptions read_list_options(Fields& fields, const Position& where);

// Throws SpecError for an option that the sweep or study itself gives each run: its name, its seed.
void refuse_own(const std::string& option, const Position& where);

}  // namespace softalign
