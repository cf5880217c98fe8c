// Reads YAML strictly into a Value: the one door to yaml-cpp. What yaml-cpp lets pass is refused
// here with a position and a remedy: duplicate keys, anchors, aliases, merge keys, tags, a second
// document, a quote that is never closed, tabs as indentation, control characters, text that is not
// UTF-8, nesting deeper than 64.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "framework/config/value.hpp"

namespace softalign {

inline constexpr std::size_t kLargestYaml = std::size_t{1}
                                            << 20;  // bytes; a spec has a few thousand
inline constexpr int kDeepestYaml = 64;

// The one document of a text; `name` stands for the file in positions. Lines and columns (in bytes)
// count from 1. Throws SpecError "name:line:column: what; remedy".
Value parse_yaml(std::string_view text, const std::string& name);

// The same for a file. `named_at` is the place that names the file, where there is one.
Value read_yaml(const std::filesystem::path& file, const Position& named_at = {});

// One value as on a command line: a plain text up to its end (`#` and `: ` are nothing special), a
// quoted text, a [list] or a {map}. All nodes are at `where`.
Value parse_flow(std::string_view text, const Position& where);

}  // namespace softalign
