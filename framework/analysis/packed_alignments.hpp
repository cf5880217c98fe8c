// The attention matrices of a report, packed for the script of its page: 256 steps of weight, runs of zeros
// counted, base64.
//
// A weight is kept as round(255 w), so what is shown is at most 0.002 off. Trained attention is mostly zero: a
// 0 is followed by a byte that says how many there are, 1..255. Texts stand once in a pool; sources of two runs
// are one text when they are equal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/hdf5/values.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {

// Bytes of packed matrices and of texts, at most.
inline constexpr std::size_t kPackedBudget = 16'000'000;
// Bytes of the hypotheses of all runs, and sentences of each, at most.
inline constexpr std::size_t kTranslatedBytes = 4'000'000, kTranslated = 2000;

struct AlignedRun {
  Index run = -1;              // its number in the report; -1: a file of alignments alone
  std::filesystem::path file;  // the record, or that file
  std::string set;             // runs of one set were tested on the same sentences
  const StoredResults* results = nullptr;  // of the test sentences, where they are known
};

// Alignments that cannot be read: the run, and in `text` which they are and why.
struct LeftOutAlignments {
  const AlignedRun* run;
  std::string text;
};

// {"texts", "panes", "translations", "every", "default"}: a pane for each module of each run, modules between words before the
// others. "default" is the module that is drawn unless one is named: default_module, unless that is an
// encoder's. wanted: the sentences; empty: all, or beyond the budget those whose number is a multiple of
// `every`. translations: of each run that was tested, unless sentences are wanted, source, reference, hypothesis and
// scores of its first test sentences.
JsonObject packed_alignments(const std::vector<AlignedRun>& runs,
                             const std::vector<Index>& wanted,
                             std::vector<LeftOutAlignments>& left_out,
                             std::size_t budget = kPackedBudget);

// [T, S] in [0, 1], row by row; for the tests.
std::string packed(const std::vector<float>& weights);

}  // namespace softalign
