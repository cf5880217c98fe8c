// How long the rows of a list that are still to come will take, before any of them has begun.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "framework/runs/run_list.hpp"

namespace softalign {

// What each row's training costs: the multiplications of a sentence pair of mean length, for all
// pairs of all epochs.
class RowCosts {
 public:
  RowCosts(const RunList& list, LoadSpec load) : list_(list), load_(std::move(load)) {}

  // Computes costs of further rows for about so long. Reads the data of a task that does not say
  // how much there is.
  void look(std::chrono::milliseconds most);
  double of(const ListedRun& row) const;  // NaN: not known

 private:
  struct Pairs {
    double count = 0;
    double source = 0, target = 0;  // mean lengths; of images, in columns
    SourceFormat source_format = Index{0};
    Index target_symbols = 0;
  };
  Pairs pairs(const Spec& spec);
  double cost(const ListedRun& row);

  const RunList& list_;
  LoadSpec load_;
  std::map<std::string, Pairs> data_;  // by task
  std::vector<double> costs_;          // of the first rows
};

// The seconds that rows of a cost take, from those of which they are known: of the same part where
// there are some.
class RowPace {
 public:
  void add(const std::string& part, double cost, double seconds);
  double seconds(const std::string& part, double cost) const;  // NaN: nothing is known

 private:
  struct Sum {
    double rows = 0, cost = 0, seconds = 0;
  };
  std::map<std::string, Sum> parts_;
  Sum all_;
};

}  // namespace softalign
