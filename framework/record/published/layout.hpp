// The parts of a record, each written from the frames that concern it: for files of this layer.
#pragma once

#include "framework/record/file.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/history.hpp"

namespace softalign {

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
