// Checks that the parts of a model fit together. All throw SpecError.
#pragma once

#include <memory>

#include "framework/seq/model.hpp"

namespace softalign {

// The encoder must accept the source: no frames if it reads symbols, frames of its size (if set) if it reads frames.
void check_source(const ModelOptions& options, const Encoder& encoder, const FrameFormat& frames);

// source, target: vocabulary sizes.
void check_tied(const ModelOptions& options, const Encoder& encoder, Index source, Index target);
void check_tied_readout(const ModelOptions& options, Index readout);

// Checks that the model can copy, and returns the copies of source symbols.
std::shared_ptr<const Copies> checked_copies(const ModelOptions& options,
                                             const Encoder& encoder,
                                             bool aligns,
                                             bool sums_to_one,
                                             const SourceFormat& source,
                                             Index target_symbols);

// A decoder that does not build the attention has its own, so the spec must not name one.
void check_built_in(const ModelOptions& options, Index annotation);

}  // namespace softalign
