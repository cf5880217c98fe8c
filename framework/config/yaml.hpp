// Reads YAML strictly into a Value: the one door to yaml-cpp. What yaml-cpp lets pass is refused
// here with a position and a remedy: duplicate keys, anchors, aliases, merge keys, tags, a second
// document, a quote that is never closed, tabs as indentation, control characters, text that is not
// UTF-8, nesting deeper than 64.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/config/value.hpp"

namespace softalign {

inline constexpr std::size_t kLargestYaml = std::size_t{1}
                                            << 20;  // bytes; a spec has a few thousand
inline constexpr int kDeepestYaml = 64;

// The one document of a text; `name` stands for the file in positions. Lines and columns (in bytes)
// count from 1. Throws SpecError "name:line:column: what; remedy".
Value parse_yaml(std::string_view text, const std::string& name);

// The one document of a file. `named_at` is the position that names the file, where there is one.
Value read_yaml(const std::filesystem::path& file, const Position& named_at = {});

// One value as on a command line: a plain text up to its end (`#` and `: ` are nothing special), a
// quoted text, a [list] or a {map}. All nodes are at `where`.
Value parse_flow(std::string_view text, const Position& where);

// Refuses, before yaml-cpp sees the text, characters that it would misread in silence: throws SpecError at the
// first byte that is not UTF-8, control character (yaml-cpp takes \4 for the end of the file), tab in an
// indentation of block style (JSON may have them) or carriage return alone where there is no other line end.
// `start` is the position of the first character; without a line it is the position of all.
void check_characters(std::string_view text, const Position& start);

// A hint at what is odd about a text that stands where something else is expected: " (no blank behind its
// colon; write b: 2)"; a character that only looks like a blank; mostly nothing.
std::string slip_in(std::string_view text);

}  // namespace softalign
