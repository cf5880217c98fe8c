// Reads YAML strictly into a Value; yaml-cpp is used only here. Refuses, with a position and a
// remedy, what yaml-cpp accepts: duplicate keys, anchors, aliases, merge keys, tags, a second
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

// Parses a text of one document; `name` is the file name in positions. Lines and columns (in bytes)
// count from 1. Throws SpecError "name:line:column: what; remedy".
Value parse_yaml(std::string_view text, const std::string& name);

// Reads a file of one document. `named_at` is the position that names the file, if any.
Value read_yaml(const std::filesystem::path& file, const Position& named_at = {});

// Parses one value as given on a command line: a plain text up to its end (`#` and `: ` are not
// special), a quoted text, a [list] or a {map}. All nodes have the position `where`.
Value parse_flow(std::string_view text, const Position& where);

// Refuses characters that yaml-cpp would misread without an error. Throws SpecError at the first byte that is not
// UTF-8, control character (yaml-cpp takes \4 for the end of the file), tab in an indentation of block style (JSON
// may have them) or carriage return in a text without line feeds. `start` is the position of the first character;
// without a line, it is the position of all characters.
void check_characters(std::string_view text, const Position& start);

// Returns a hint at a typing error in a text that is not as expected: " (no blank behind its colon; write b: 2)", or
// a character that only looks like a blank. Empty if there is no such error.
std::string slip_in(std::string_view text);

}  // namespace softalign
