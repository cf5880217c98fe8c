// Alignments that a record keeps, as links between words in Pharaoh format, so that other aligners' files can be
// held against them.
#pragma once

#include <optional>
#include <string>

#include "framework/eval/word_links.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

struct ExportedLinks {
  std::string
      text;  // a line for each line of the text, up to that of the last sentence whose matrix is kept
  std::string note;  // a line where those are not all, and where lines of the text were skipped
};

// Of a module's newest update. head: none: the first. Throws SpecError where the record has no such alignments or their
// positions are not the source's symbols, DataError where it is damaged.
ExportedLinks export_links(const Record& record,
                           const std::string& module,
                           std::optional<Index> head,
                           const LinkRule& rule);

// The split whose sentences a module of alignments is of: "test" or "dev".
std::string split_of(const std::string& module);

// What the run's rows stand for.
RowAligns row_aligns_of(const Record& record);

}  // namespace softalign
