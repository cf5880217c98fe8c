// A study: experiments that answer a question together. Its file names the parts (a base spec
// each), the variants (sets of overrides), the seeds and the claims. Reading only; what its runs are:
// plan_study.hpp.
//
//   name: quickstart
//   question: Does a soft alignment beat a fixed-length vector, and where?
//   seeds: [1]                                    # and metric, early_terminate: list_options.hpp
//   variants:                                     # of every part
//     none: {model.attention.type: none}          # overrides, as a map
//     dot: [model.attention.score.type=dot]       # or as on the command line
//   parts:
//     reverse:
//       base: reverse.yaml                        # relative to this file
//       overrides: {train.epochs: 8}              # for all variants of the part
//       tiny: {train.max_updates: 2}              # over those, where the study is only tried
//       variants: {}                              # of this part only
//       report: {metrics: [token_accuracy]}       # the tables
//   claims:
//     - claim: token_accuracy[21-30](reverse/dot) > token_accuracy[21-30](reverse/none)
//       because: why we think so
//       expect: holds                             # or open: reported, never an error
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/config/override.hpp"
#include "framework/study/claim.hpp"
#include "framework/study/list_options.hpp"

namespace softalign {

struct StudyVariant {
  std::string name;
  std::vector<Override> changes;
};

struct StudyMetric {
  std::string name;
  Position where;
};

struct StudyPart {
  std::string name;
  std::string title;  // for people; the name when not given
  std::filesystem::path base;
  Position base_named_at;
  std::vector<Override> changes;
  std::vector<StudyVariant> variants;  // the study's, then its own
  std::vector<StudyMetric> metrics;    // of the tables
};

struct Study {
  std::string name;
  std::string question;
  std::filesystem::path file;
  std::vector<StudyPart> parts;
  ListOptions options;
  std::vector<StudyClaim> claims;
};

// Throws SpecError with file, line and column for whatever is not as above: unknown keys, names
// that cannot name folders, claims about parts or variants that are not there.
// `tiny`: with what its parts say of it, one seed, and "-tiny" behind its name.
Study read_study(const std::filesystem::path& file, bool tiny = false);

}  // namespace softalign
