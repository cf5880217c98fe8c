// The alignments stored in a record, as links between words in Pharaoh format, for comparison with the output of other
// aligners.
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
      text;  // a line for each line of the text, up to the last sentence whose matrix is stored
  std::string note;  // a line if sentences have no stored matrix, and one if lines were skipped
};

// Returns the links of a module's newest update. module "": the default module; head absent: the first head. Throws
// SpecError if the record has no such alignments or their positions are not symbols of the source, DataError if the
// record is damaged.
ExportedLinks export_links(const Record& record,
                           const std::string& module,
                           std::optional<Index> head,
                           const LinkRule& rule);

// The content of an alignment module: test sentences with forced reference or with search outputs, dev sentences with
// either, or self-attention of an encoder or a decoder.
enum class AlignmentKind { forced, searched, dev, encoder, decoder };
AlignmentKind alignment_kind(std::string_view module);
std::string split_of(std::string_view module);  // "test" or "dev"

// Returns the module to use if none is named: of the first kind that is present, the first by name. words: its
// word-level version, if its symbols are pieces of words. "" if there is no module.
std::string default_module(const std::vector<std::string>& modules, bool words);

// Returns which symbols the rows of the run's matrices belong to.
RowAligns row_aligns_of(const Record& record);

}  // namespace softalign
