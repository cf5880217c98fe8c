// The output of commands about records: alignments, those of a record and those that `softalign translate
// --alignments` wrote, and what diagnostics found; and the temporary folder of `verify`.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/record/published/alignments.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign::app {

struct ShownSentence {
  std::optional<Index> number;  // none: all, in a line each
  std::string module;           // "": the first
  std::optional<Index> head;    // none: the first
  bool json = false;
  // The line of a module's sentence, from 1; 0: of no file.
  std::function<Index(const std::string& module, Index sentence)> line_of =
      [](const std::string&, Index) { return Index{0}; };
};

// The newest matrix of one sentence, drawn. `title`: whose it is.
void show_sentence(const StoredAlignments& alignments,
                   const std::string& title,
                   const ShownSentence& shown);

// Shows where a file comes from and its first sentences, or one of them.
void show_alignment_record(const AlignmentRecord& record, const ShownSentence& shown);

// The single numbers of each diagnostic and split, first and last, and how to see the rest; "" where there are
// none.
std::string diagnostics_summary(const Record& record);

// All of one diagnostic: its single numbers by update, and at the last update its numbers along each axis.
// Throws SpecError where the record has none of this name.
std::string diagnostic_tables(const Record& record, const std::string& name);

// A folder below the system's one for temporary files, for the record that verify makes. Removed at the end,
// with those that processes of this machine were killed over. One that is kept bears no process's mark. Throws
// MachineError where none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(bool keep);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool keep_;
};

}  // namespace softalign::app
