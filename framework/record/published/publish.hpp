// Makes run.h5 from a run's journals, and public copies of it without the names of machines. results/record.md
// documents the layout.
#pragma once

#include <string>
#include <vector>

#include "framework/record/file.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

inline constexpr int kFormatVersion = 1;

// Builds the record in memory, writes it next to run.h5, reads it back and renames it in one step.
// Test results, which are recorded last, are complete or absent: only a complete run has
// them. Throws MachineError if the disk fails; run.h5 is then unchanged. last_check: called just before the renaming.
void publish(FileSystem& files,
             const RunFolder& run,
             History history,
             const std::function<void()>& last_check = {});

// Returns whether the run is complete and run.h5 is the record of its end; other files are not needed.
// Throws DataError for a damaged record.
bool end_is_published(const RunFolder& run);

// Rebuilds the record of a run without an owner from its journals: `softalign recover`. Ignores
// incomplete ends of journals without removing them. Throws MachineError while the owner is alive, and
// DataError if a file of the run's folder is damaged; run.h5 is then unchanged. except: as in
// check_spec_files.
void recover(FileSystem& files, const RunFolder& run, const std::vector<std::string>& except = {});

// A copy of a record for others, which verifies like the record, but does not name its machine.
struct PublicCopy {
  std::string image;                  // the bytes of the file
  std::vector<std::string> left_out;  // "host", "2 events"
};

// spec_yaml: replaces the record's. Everything outside /provenance is unchanged. In /provenance, texts about the
// computation are kept unless they contain the name of a host or an absolute path.
PublicCopy public_copy(const Record& record, const std::string& spec_yaml);

// Returns whether the record is such a copy.
bool is_public_copy(const Record& record);

// The functions below are internal to this layer. Each writes a part of a record from its frames.

// The root's attribute `format`.
inline constexpr const char* kRecordFormat = "softalign-run";
inline constexpr const char* kAlignmentFormat = "softalign-alignments";
inline constexpr const char* kSweepFormat = "softalign-sweep";

inline constexpr const char* kTestGroup = "test";

// Throws DataError for a file of another format.
void check_format(const std::filesystem::path& file, const Hdf5Reader& hdf5, const char* wanted);

// /provenance: the spec, its machine and program, attempts, events.
void write_provenance(Hdf5Writer& file, const RunFolder& run, const History& history);
// /<series>: one row per update, one dataset per name; NaN if it has no value.
void write_series(Hdf5Writer& file, const std::vector<Frame>& frames);
// /alignments/<module>: padded matrices, their lengths, words, entropy and gold links.
void write_alignments(Hdf5Writer& file, const std::vector<Frame>& frames);
// Arrays in their groups; then all attributes.
void write_arrays(Hdf5Writer& file, const std::vector<Frame>& frames);
void write_attributes(Hdf5Writer& file, const std::vector<Frame>& frames);

}  // namespace softalign
