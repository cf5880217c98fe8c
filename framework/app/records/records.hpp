// The output of commands about records: alignments (of a record, or written by `softalign translate --alignments`)
// and the results of diagnostics; and the temporary folder of `verify` and `publish`.
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
  std::optional<Index> number;  // empty: all, one line each
  std::string module;           // "": the default one
  std::optional<Index> head;    // empty: the first
  bool json = false;
  // Returns the line of a module's sentence in its file, from 1; 0: it is not from a file.
  std::function<Index(const std::string& module, Index sentence)> line_of =
      [](const std::string&, Index) { return Index{0}; };
};

// Draws the newest matrix of one sentence. `title` names the run or file that has it.
void show_sentence(const StoredAlignments& alignments,
                   const std::string& title,
                   const ShownSentence& shown);

// Shows the origin of a file and its first sentences, or one sentence.
void show_alignment_record(const AlignmentRecord& record, const ShownSentence& shown);

// Returns the first and last value of the single numbers of each diagnostic and split, and how to see the rest;
// "" if there are no diagnostics.
std::string diagnostics_summary(const Record& record);

// Returns all results of one diagnostic: its single numbers by update, and at the last update its numbers along
// each axis. Throws SpecError if the record has no diagnostic of this name.
std::string diagnostic_tables(const Record& record, const std::string& name);

// A folder in the system's folder for temporary files, for the records that verify and publish make. Removed at
// the end unless `keep`; then its name has no process mark. The constructor also removes the folders of killed
// processes of this machine. Throws MachineError if no folder can be made.
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
