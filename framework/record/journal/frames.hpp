// The contents of a journal's frames, and their packing. journal.hpp defines the framing (lengths, checksums).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/hdf5/values.hpp"

namespace softalign {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

// Numbers of one update. Published as rows of the group `series`; values of one update in several
// frames share the row, and a later value of the same name replaces an earlier one.
struct Scalars {
  std::string series;  // "train", "dev"
  Index update = 0;
  double wall_time = 0;  // seconds spent on the run so far, without lost work
  NamedNumbers values;
};

// The prefix of alignment modules between words instead of pieces.
inline constexpr std::string_view kBetweenWords = "words_";

// One attention matrix: weights[t, s] of target position t for source position s.
struct Alignment {
  std::string module;  // published as /alignments/<module>
  Index update = 0;
  Index sentence = 0;
  Index head = 0;
  std::vector<std::string> source = {};  // [S]
  std::vector<std::string> target = {};  // [T]
  std::vector<float> weights = {};       // [T, S]
  std::vector<std::uint8_t> gold = {};   // [T, S]: 0 none, 1 possible, 2 sure; empty: unknown
};

// The group of a diagnostic's findings: /diagnostics/<name>/<split>.
inline constexpr std::string_view kDiagnosticsGroup = "diagnostics";

// A final result; a later one of the same name replaces it. An array whose first dimension is a single
// update is a row of an array by update; the rows of all updates are published as one array.
struct Array {
  std::string group;  // "test", "parameters"
  std::string name;
  Index update = 0;             // at which it was computed
  std::vector<Dimension> dims;  // none: a single value
  Values values;
  std::string attributes = "{}";  // a JSON object, as in the journal
};

// Attributes of a group or a dataset, merged with those recorded before.
struct Attributes {
  std::string path;  // "": the root
  std::string json;  // an object of strings, numbers, booleans and lists of one of these
};

struct Event {
  double time = 0;  // Unix time, seconds
  std::string text;
};

struct CheckpointMark {
  Index update = 0;
  std::string file;    // in ckpt/
  std::string sha256;  // of the file's content, see checkpoint.hpp
};

// The first frame of an attempt's journal. Frames of earlier attempts after this checkpoint are superseded.
struct Rewind {
  Index update = -1;  // -1: from the beginning
  std::string file;   // of the checkpoint; empty: from the beginning
};

struct End {
  double time = 0;
  std::string state;  // "complete", "pruned", "interrupted", "trained", "failed"
};

// A frame's kind is its position in this list, from 1: add at the end only.
using Frame =
    std::variant<Scalars, Alignment, Array, Attributes, Event, CheckpointMark, Rewind, End>;

// Returns the reason why a frame cannot be part of a record; empty if it can.
std::string fault_of(const Frame& frame);

std::uint8_t kind_of(const Frame& frame);
std::string encode(const Frame& frame);
// Throws DataError for unknown kinds, invalid bytes and invalid frames.
Frame decode(std::uint8_t kind, std::string_view payload);

}  // namespace softalign
