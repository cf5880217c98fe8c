// Word links of a sentence pair: parsed from text, written as text, and converted to links between symbols.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {

// Parses the links of one sentence pair: `i-j` is sure, `ipj` possible, with source position i and target position
// j from 0. Returns them sorted by source, then target. A repeated link counts once, as sure if any copy is sure.
// Lengths are in words, or in `source_unit` for the source. Throws DataError `file:number: ...` for a link that is
// invalid or out of range.
std::vector<Link> parse_links(std::string_view line,
                              Index source_length,
                              Index target_length,
                              const std::string& file,
                              Index number,
                              std::string_view source_unit = "source words");

// Returns the links as text, such as "0-0 1p2", in the given order.
std::string links_text(const std::vector<Link>& links);

// Converts links between words to links between symbols: every symbol of a source word to every
// symbol of the target word. The arguments are Vocabulary::word_of of the two lines.
std::vector<Link> spread_links(const std::vector<Link>& words,
                               const std::vector<Index>& source_word_of,
                               const std::vector<Index>& target_word_of);

}  // namespace softalign
