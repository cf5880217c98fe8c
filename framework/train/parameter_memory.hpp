// The parameters as training holds them: their bytes, and how many times they are in memory.
#pragma once

#include "framework/seq/model.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

struct ParameterBytes {
  double all = 0, dense = 0, tables = 0;  // tables: the rows that a batch touches
};
ParameterBytes parameters_of(const Model& model, Index symbols_of_batch);

// Returns the number of copies that an average holds between evaluations.
double copies_of_average(const Spec& spec);
double copies_of_optimizer(const TrainOptions& train);
// Sums of groups that are held at a time: two of 2^k groups become one of 2^(k + 1) at once.
int sums_of_groups(const TrainOptions& train, int ranks);

}  // namespace softalign
