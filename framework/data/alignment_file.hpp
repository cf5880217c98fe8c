// Word links as text: `i-j` sure, `ipj` possible, positions from 0, i in the source, j in the
// target.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/data/dataset.hpp"

namespace softalign {

// The links of one sentence pair, sorted by source, then target; a link given twice counts once, as
// sure if any says so. Lengths are in words. Throws DataError `file:line: ...` naming the link that
// cannot be read or points outside its sentence.
std::vector<Link> parse_links(std::string_view line,
                              Index source_length,
                              Index target_length,
                              const std::string& file,
                              Index number);

// The counterpart: "0-0 1p2", in the order given.
std::string links_text(const std::vector<Link>& links);

// Links between words as links between symbols: every symbol of a source word to every symbol of
// the target word. The arguments are Vocabulary::word_of of the two lines.
std::vector<Link> spread_links(const std::vector<Link>& words,
                               const std::vector<Index>& source_word_of,
                               const std::vector<Index>& target_word_of);

}  // namespace softalign
