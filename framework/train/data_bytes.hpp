// What a run's data take, from their outline: the parts of memory.hpp that know no model.
#pragma once

#include "framework/data/task.hpp"

namespace softalign {

// Of a vocabulary that may not be known yet: one symbol besides the specials.
Index at_least_one_symbol(Index known);

// Where lengths are not known they are taken to be as even as may be, and no longer than in training.
DataOutline assumed(DataOutline data);

// Of a symbol's name and the space behind it, as tasks name theirs.
double name_bytes(Index symbols);
double bytes_of_names(const DataOutline& data);
double bytes_of_vocabularies(const DataOutline& data);
// Of those in memory (data/dataset.hpp), their texts a little longer than the symbols' names.
double bytes_of_examples(const DataOutline& data);

// Pairs of symbols that occur together. Where they were not counted, any symbol of one side is as likely beside any of
// the other.
Index cells_of(const DataOutline& data);

// Of a sentence's longer side, with </s>: the mean.
Index typical_length(const DataOutline::SplitOutline& split);

}  // namespace softalign
