// Sentence pairs from files whose lines match: sources, and where they are known targets and word links.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/data/examples.hpp"
#include "framework/data/text_file.hpp"

namespace softalign {

// A pair as read; links are between words.
struct Pair {
  std::string source;
  std::string target;
  std::vector<Link> links;
  Index line = 0;
  bool translated = true;  // false: there are no targets

  bool empty() const;  // without a word on a side
};

// Those whose vocabulary marks spaces itself (Vocabulary::marks_spaces).
struct MarkedSides {
  bool source = false;
  bool target = false;
};

class PairReader {
 public:
  // Paths; empty where there is no such file. Throws DataError for files that cannot be read.
  PairReader(const std::string& source,
             const std::string& target,
             const std::string& alignment,
             MarkedSides marked);

  // false: all pairs have been read. Throws DataError when the files have different numbers of lines, a line
  // of a marked side holds space marks, or links are none.
  bool next(Pair& pair);

 private:
  TextFile source_;
  std::optional<TextFile> target_;
  std::optional<TextFile> alignment_;
  MarkedSides marked_;
  std::string links_;
};

}  // namespace softalign
