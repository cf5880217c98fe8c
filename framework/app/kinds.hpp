// Kinds and names of plugins as they are written on a command line.
#pragma once

#include <string>

#include "framework/config/registry.hpp"

namespace softalign::app {

std::string plural(const std::string& kind);
// A kind from its singular or plural. Throws SpecError with the nearest one.
std::string kind_named(const std::string& given);

// The file that registered a plugin, below framework/ for one of ours.
std::string source_of(const PluginEntry& entry);

}  // namespace softalign::app
