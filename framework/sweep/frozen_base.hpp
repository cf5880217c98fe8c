// A sweep's own copy of the spec that it varies.
#pragma once

#include "framework/config/snapshot.hpp"
#include "framework/sweep/plan.hpp"

namespace softalign {

// base.yaml: the base spec with its files merged and its paths absolute. It knows where everything was
// written. options: those of the spec, for the caller. Throws SpecError.
Value frozen_base(const Sweep& sweep, const LoadSpec& load, OptionNode& options);

// As YAML: maps in blocks, everything else on one line.
std::string block_text(const Value& map, const std::string& indent = "");

}  // namespace softalign
