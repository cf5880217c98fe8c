// From a command line's arguments to a resolved spec, its plugins loaded first.
#pragma once

#include "framework/app/command.hpp"
#include "framework/config/spec.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

// Prints the notes of merging to standard error.
ResolvedSpec<Spec> load(const SpecArguments& arguments);

}  // namespace softalign::app
