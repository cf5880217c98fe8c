// The attention matrices of a report, packed for the script of its page: 8-bit weights, run-length encoded zeros,
// base64.
//
// A weight is stored as round(255 w), an error of at most 0.002. Because trained attention is mostly zero, a 0 is
// followed by a byte with the number of zeros, 1..255. Each distinct text is stored once in a pool, even if several
// runs have it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/hdf5/values.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {

// The most bytes of packed matrices and texts.
inline constexpr std::size_t kPackedBudget = 16'000'000;
// The most bytes of hypotheses of all runs, and the most sentences of each run.
inline constexpr std::size_t kTranslatedBytes = 4'000'000, kTranslated = 2000;

struct AlignedRun {
  Index run = -1;              // index in the report; -1: a file that contains only alignments
  std::filesystem::path file;  // the record, or that file
  std::string set;             // runs of one set were tested on the same sentences
  const StoredResults* results = nullptr;  // of the test sentences, if they are known
};

// Alignments that cannot be read: the run, and a text that names them and the reason.
struct LeftOutAlignments {
  const AlignedRun* run;
  std::string text;
};

// Returns {"texts", "panes", "translations", "every"}: a pane for each module of each run, word-level modules first. A
// pane is "default" if it is drawn when no module is named: default_module, unless that is self-attention. wanted: the
// sentences; empty: all, or if these exceed the budget, those whose number is a multiple of `every`. translations:
// source, reference, hypothesis and scores of the first test sentences of each tested run, if `wanted` is empty.
JsonObject packed_alignments(const std::vector<AlignedRun>& runs,
                             const std::vector<Index>& wanted,
                             std::vector<LeftOutAlignments>& left_out,
                             std::size_t budget = kPackedBudget);

// Packs a matrix, [T, S] in [0, 1], row by row; declared here for the tests.
std::string packed(const std::vector<float>& weights);

}  // namespace softalign
