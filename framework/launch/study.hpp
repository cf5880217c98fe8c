// A study: experiments that answer a question together. Its file names the parts (a base spec
// each), the variants (sets of overrides), the seeds and the claims; here it becomes a list of
// runs. Nothing is run here.
//
//   name: quickstart
//   question: Does a soft alignment beat a fixed-length vector, and where?
//   seeds: [1]
//   variants:                                     # of every part
//     none: {model.attention.type: none}          # overrides, as a map
//     dot: [model.attention.score.type=dot]       # or as on the command line
//   parts:
//     reverse:
//       base: reverse.yaml                        # relative to this file
//       overrides: {train.epochs: 8}              # for all variants of the part
//       variants: {}                              # of this part only
//       report: {metrics: [token_accuracy]}       # the tables
//   claims:
//     - claim: token_accuracy[21-30](reverse/dot) > token_accuracy[21-30](reverse/none)
//       because: why we think so
//       expect: holds                             # or open: reported, never an error
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "framework/config/override.hpp"
#include "framework/config/spec.hpp"
#include "framework/launch/statement.hpp"
#include "framework/train/spec.hpp"

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

struct StudyClaim {
  Statement statement;
  Position where;
  std::string because;
  bool open = false;  // nobody says that it holds
};

struct Study {
  std::string name;
  std::string question;
  std::vector<StudyPart> parts;
  std::vector<Index> seeds;
  std::vector<StudyClaim> claims;
};

struct StudyRun {
  std::string part;
  std::string variant;
  Index seed = 0;
  ResolvedSpec<Spec> resolved;  // its name is <part>-<variant>
  std::string run_id;
  std::filesystem::path folder;
};

// Throws SpecError with file, line and column for whatever is not as above: unknown keys, names
// that cannot name folders, claims about parts or variants that are not there.
Study read_study(const std::filesystem::path& file);

// How a run's spec is read once its files and overrides are merged: whoever calls may load plugins
// first.
using LoadSpec = std::function<ResolvedSpec<Spec>(SpecTree)>;

// Whether "part/variant" fits the shell pattern; "" chooses all.
bool is_chosen(const std::string& part, const std::string& variant, const std::string& pattern);

// Every run of the study's parts that have a variant chosen by `pattern`: parts, variants, seeds,
// the last fastest, in <results>/<study>/. Their specs are read and checked, the other parts' are
// not touched; `overrides` come last. Throws SpecError, also when two runs would be the same, a
// metric is unknown or nothing is chosen, DataError for data files that are missing.
std::vector<StudyRun> plan_study(const Study& study,
                                 const std::vector<Override>& overrides,
                                 const std::filesystem::path& results,
                                 const LoadSpec& load,
                                 const std::string& pattern = "");

}  // namespace softalign
