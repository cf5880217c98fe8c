// Makes run.h5 from a run's journals, and copies of it for others, without what names a machine. The layout is
// written down for people in results/README.md.
#pragma once

#include <string>
#include <vector>

#include "framework/record/file.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

inline constexpr int kFormatVersion = 1;

// Builds the record in memory, writes it beside run.h5, reads it back and puts it in place in one
// step. Test results, which are recorded last, are whole or absent: a run that is not complete has
// none. Throws MachineError when the disk fails; run.h5 is then what it was.
void publish(FileSystem& files, const RunFolder& run, History history);

// Returns whether the run is complete and run.h5 is the record of its end, which may lie there alone. Throws
// DataError for a damaged record.
bool end_is_published(const RunFolder& run);

// The record of a run that nobody works on, from what its journals hold: `softalign recover`. Torn
// ends of journals are not read and not cut. MachineError while its owner lives; DataError, and
// run.h5 stays, when a file of the run's folder is damaged. `except` is that of check_spec_files.
void recover(FileSystem& files, const RunFolder& run, const std::vector<std::string>& except = {});

// A copy of a record to hand on: it verifies as the record does, and does not tell whose machine made it.
struct PublicCopy {
  std::string image;                  // the bytes of the file
  std::vector<std::string> left_out;  // "host", "2 events"
};

// `spec_yaml` stands in place of the record's. All outside /provenance is the same. There, texts stay that say how
// the numbers were made, unless they have a host's name or an absolute path in them.
PublicCopy public_copy(const Record& record, const std::string& spec_yaml);

// Returns whether the record is such a copy.
bool is_public_copy(const Record& record);

// The parts of a record, each written from the frames that concern it: for files of this layer.

// The root's attribute `format`.
inline constexpr const char* kRecordFormat = "softalign-run";
inline constexpr const char* kAlignmentFormat = "softalign-alignments";
inline constexpr const char* kSweepFormat = "softalign-sweep";

inline constexpr const char* kTestGroup = "test";

// Throws DataError for a file of another format.
void check_format(const std::filesystem::path& file, const Hdf5Reader& hdf5, const char* wanted);

// /provenance: the spec, where and by what it was run, attempts, events.
void write_provenance(Hdf5Writer& file, const RunFolder& run, const History& history);
// /<series>: one row per update, one dataset per name; NaN where a name has no value.
void write_series(Hdf5Writer& file, const std::vector<Frame>& frames);
// /alignments/<module>: padded matrices, their lengths, words, entropy and gold links.
void write_alignments(Hdf5Writer& file, const std::vector<Frame>& frames);
// Arrays in their groups; then all attributes.
void write_arrays(Hdf5Writer& file, const std::vector<Frame>& frames);
void write_attributes(Hdf5Writer& file, const std::vector<Frame>& frames);

}  // namespace softalign
