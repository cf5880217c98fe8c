// The memory of parameters in training: their bytes, and the number of copies.
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
// Returns the number of sums of groups in memory: two sums of 2^k groups are merged at once into one of 2^(k + 1).
int sums_of_groups(const TrainOptions& train, int ranks);

}  // namespace softalign
