// Links between words of a sentence pair, as text and between symbols.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {

// The links of one sentence pair from text, `i-j` sure, `ipj` possible, positions from 0, i in the source, j in
// the target; sorted by source, then target. A repeated link counts once, as sure if any of them is sure.
// Lengths are in words, or what the source has instead. Throws DataError `file:line: ...` naming the link that is
// invalid or points outside its sentence.
std::vector<Link> parse_links(std::string_view line,
                              Index source_length,
                              Index target_length,
                              const std::string& file,
                              Index number,
                              std::string_view source_unit = "source words");

// Links as text: "0-0 1p2", in the given order.
std::string links_text(const std::vector<Link>& links);

// Converts links between words to links between symbols: every symbol of a source word to every
// symbol of the target word. The arguments are Vocabulary::word_of of the two lines.
std::vector<Link> spread_links(const std::vector<Link>& words,
                               const std::vector<Index>& source_word_of,
                               const std::vector<Index>& target_word_of);

}  // namespace softalign
