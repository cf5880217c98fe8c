// What the files of our own plugins say of themselves in their first lines: formula, paper, equation.
#pragma once

#include <string_view>

namespace softalign::app {

// source: as source_of gives it; empty for a plugin from elsewhere.
std::string_view plugin_note(std::string_view source);

}  // namespace softalign::app
