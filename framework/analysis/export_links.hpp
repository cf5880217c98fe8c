// Alignments that a record keeps, as links between words in Pharaoh format, so that other aligners' files can be
// held against them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/eval/alignments.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

struct ExportedLinks {
  std::string
      text;  // a line for each line of the text, up to that of the last sentence whose matrix is kept
  std::string note;  // a line where those are not all, and where lines of the text were skipped
};

// The links of a module's newest update. module "": the default one; head absent: the first. Throws SpecError
// where the record has no such alignments or their positions are not the source's symbols, DataError where it
// is damaged.
ExportedLinks export_links(const Record& record,
                           const std::string& module,
                           std::optional<Index> head,
                           const LinkRule& rule);

// The contents of a module of alignments: of test sentences with the reference forced on the decoder, or as the
// search found them; of dev sentences either way; or self-attention, an encoder's or a decoder's.
enum class AlignmentKind { forced, searched, dev, encoder, decoder };
AlignmentKind alignment_kind(std::string_view module);
std::string split_of(std::string_view module);  // "test" or "dev"

// The module that is taken where none is named: of the first kind present, the first by name. words: where its
// symbols are pieces of words, the one between words. "" where there is no module.
std::string default_module(const std::vector<std::string>& modules, bool words);

// The symbols that the run's rows stand for.
RowAligns row_aligns_of(const Record& record);

}  // namespace softalign
