// The cost of computing a model, without computing it: products are skipped (UncomputedProducts), all else is small.
//
//   const Cost cost = cost_of(model, make_batch(split, examples));
//   const Cost cost = cost_of(options, 35, 35, {.source = 40, .target = 40});   // cost.energies: 1600
#pragma once

#include "framework/data/batches.hpp"
#include "framework/seq/model.hpp"

namespace softalign {

// The cost of a forward pass with teacher forcing, as counted by kernels/work.hpp.
struct Cost {
  Index target_symbols = 0;  // with </s>
  Index multiplications = 0;
  Index projection = 0;  // the share of multiplications in the projection to the vocabulary
  Index energies = 0;
  Index activations = 0;  // bytes of a training tape up to the projection, before backward
  Index per_symbol() const { return multiplications / target_symbols; }
};

// The parameters must be allocated; their values do not matter. Padding is counted, too; a single sentence
// has none.
Cost cost_of(const Model& model, const Batch& batch);

// Lengths of a sentence pair in symbols, with </s>; of an image in columns of pixels, with the end mark.
struct CostLengths {
  Index source = 20;
  Index target = 20;
};

// The cost of one sentence pair. Throws SpecError if the model cannot be built, MachineError if it does not fit.
Cost cost_of(const ModelOptions& options,
             const SourceFormat& source,
             Index target_symbols,
             const CostLengths& lengths);

// Allocates values that take almost no memory and cause no division by 0.
void allocate_unlearnt(ParameterStore& parameters);

// Returns `count` sentence pairs of these lengths (with </s>) and links between them; without targets if
// `target` is 0.
Split equal_sentences(Index count, Index source, Index target, const FrameFormat& frames = {});

}  // namespace softalign
