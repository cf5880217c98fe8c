// The options of tasks that read parallel text: files with matching lines, and vocabularies built from them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/options.hpp"
#include "framework/data/build_vocabulary.hpp"

namespace softalign {

// The files of one split, or of one portion of the training text.
struct TextFiles {
  InputFile source;
  InputFile target;
  InputFile alignment;
  InputFiles references;
  InputFile clusters;

  template <class V>
  void describe(V& v) {
    v("source", source, "one sentence per line, plain or gzip", required());
    v("target",
      target,
      "the translations, line by line; without them dev or test is translated but not measured");
    v("alignment", alignment, "word links, i-j sure, ipj possible, from 0 (optional)");
    v("references",
      references,
      "further translations, line by line, one file or several as [a, b]: BLEU, chrF, exact match "
      "and token error rate accept any reference, all else reads target alone; a blank line is not "
      "a reference (optional)");
    v.check("references",
            references.empty() || !target.path.empty(),
            "target is missing: it is the first reference");
    v("clusters",
      clusters,
      "a key for each line, such as its document: sentences of one key, also an empty one, are not "
      "independent, and intervals and tests draw them together (optional)");
  }

  std::vector<std::string> reference_paths() const {
    std::vector<std::string> paths;
    for (const InputFile& file : references) paths.push_back(file.path);
    return paths;
  }
};

// The texts to train on.
struct TrainingFiles {
  InputFiles source;
  InputFiles target;
  InputFiles alignment;
  std::optional<std::vector<double>> weights;

  template <class V>
  void describe(V& v) {
    v("source",
      source,
      "one sentence per line, plain or gzip; several files as [a, b]",
      required());
    v("target", target, "the translations, line by line: as many files as in source");
    v("alignment",
      alignment,
      "word links, i-j sure, ipj possible, from 0 (optional): as many files as in source");
    v("weights",
      weights,
      "how often an epoch uses each file: 2 is twice, 0.5 is half of its sentences, drawn anew for "
      "each epoch; null: once",
      between(0, kLargestWeight));
    const auto check_count = [&](std::string_view name, std::size_t count) {
      v.check(name,
              count == 0 || source.empty() || count == source.size(),
              fmt::format("{} of them, but {} of source", count, counted(source.size(), "file")));
    };
    check_count("target", target.size());
    check_count("alignment", alignment.size());
    if (!weights) return;
    check_count("weights", weights->size());
    v.check("weights",
            weights->empty() || std::ranges::any_of(*weights, [](double w) { return w != 0; }),
            "they sum to 0, so there would be no training sentences; raise one");
  }

  std::vector<TextFiles> texts() const {
    std::vector<TextFiles> all;
    for (std::size_t k = 0; k < source.size(); ++k)
      all.push_back({source[k],
                     target.empty() ? InputFile() : target[k],
                     alignment.empty() ? InputFile() : alignment[k],
                     {},
                     {}});
    return all;
  }
};

inline bool given(const InputFile& file) { return !file.path.empty(); }
// The vocabularies of both sides.
struct BothVocabularies : VocabularyOptions {
  std::optional<Index> target_size;
  std::optional<bool> shared;
  InputFile target_from;

  template <class V>
  void describe(V& v) {
    VocabularyOptions::describe(v);
    v("target_size",
      target_size,
      "largest number of symbols of the target side; null: as for the source side",
      between(kSpecials + 1, kMostSymbols));
    v("shared",
      shared,
      "true: one vocabulary, made from both sides (Sennrich et al. 2016); null: false");
    v("target_from",
      target_from,
      "the same as `from`, for the target side; null: as the source side");
    v.check("target_size", !target_size || !one(), "a shared vocabulary has one size");
    v.check("target_from",
            target_from.path.empty() || !from.path.empty(),
            "from is missing: name the source's vocabulary, too");
    for (const char* name : {"target_size", "shared"})
      v.inactive(name, !from.path.empty(), "from sets the vocabularies");
  }

  bool one() const { return shared.value_or(false); }
  VocabularyOptions of_target() const {
    VocabularyOptions options = *this;
    options.size = target_size.value_or(size);
    return options;
  }
};

struct ParallelTextOptions {
  TrainingFiles train;
  TextFiles dev;
  TextFiles test;
  BothVocabularies vocabulary;
  Index max_length = 50;
  std::optional<Index> max_length_test;
  std::string too_long = "drop";

  template <class V>
  void describe(V& v) {
    v("train", train, "files to train on");
    v.check("train",
            !train.target.empty() || train.source.empty(),
            "target is missing: training needs the translations");
    v("dev", dev, "files for dev evaluations");
    v.check("dev",
            given(dev.target) || !given(dev.alignment),
            "alignment needs target, which is missing");
    v("test", test, "files to test on");
    v.check("test",
            given(test.target) || !given(test.alignment),
            "alignment needs target, which is missing");
    v("vocabulary",
      vocabulary,
      "symbols, built from the training text that is kept, each file counted once");
    v.check("vocabulary",
            !vocabulary.dropout || train.alignment.empty(),
            "dropout changes the segmentation in every epoch, but train.alignment links the pieces "
            "of a fixed one; remove one of them");
    v("max_length",
      max_length,
      "longest training sentence, tokens on either side, without dropout of merges",
      between(1, kLongestSentence));
    v("max_length_test",
      max_length_test,
      "the same for dev and test; null: any length",
      between(1, kLongestSentence));
    v("too_long",
      too_long,
      "what happens to longer pairs; both are counted",
      one_of("drop", "truncate"));
  }
};

}  // namespace softalign
