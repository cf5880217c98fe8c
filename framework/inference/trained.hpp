// Trained models, rebuilt from their records alone: spec, vocabularies, and parameters or those of a checkpoint.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/config/merge.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"
#include "framework/inference/fill.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/check_sizes.hpp"
#include "framework/train/memory.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

struct TrainedOptions {
  std::vector<Override> changes = {};     // see trained_overrides; evaluate.*: of the first run
  std::vector<std::string> plugins = {};  // loaded instead of those that the records name
  std::string state = {};                 // which parameters, see StateName
  Scorer::Mean mean = Scorer::Mean::probabilities;  // of an ensemble
  int threads = 0;                                  // 0: all of the machine's
  SizeCheck sizes = {};
  std::function<void(const std::string&)> note =
      {};  // receives notes for the user, "note: ...", one line each
};

struct TrainedRun {
  std::filesystem::path file;  // its record, absolute
  std::string run_id, name;
  Index last_update = 0;
  ResolvedSpec<Spec> resolved;
  std::shared_ptr<const Vocabulary> source;  // null: sources are frames
  FrameFormat frames;
  FrameStatistics statistics;  // by which frames are normalised
  std::shared_ptr<const Vocabulary> target;
  std::unique_ptr<Model> model;
  std::string state;  // describes the model's parameters; empty: those of the record
  const Spec& spec() const { return resolved.spec; }
  // Opened for each use, because an open file would prevent h5py in the same process from opening it.
  Record record() const { return Record(file); }
};

// One run, or several that form an ensemble. The spec of the first run applies.
struct TrainedRuns {
  std::vector<TrainedRun> members;
  Scorer scorer;
  TrainedOptions options;

  const TrainedRun& first() const { return members.front(); }
  std::vector<std::string> ids() const;
  std::unique_ptr<Search> search() const;  // the first run's
  // Also the first run's; null if it has no such option. Throws as UnknownWords does, with the option's position.
  std::unique_ptr<const UnknownWords> unknown_words() const;
  void note(const std::string& text) const {
    if (options.note) options.note(text);
  }
};

// Throws DataError for a run without parameters or one that does not fit its own spec, and
// SpecError for runs whose vocabularies or tasks differ.
TrainedRuns open_trained(const std::vector<std::filesystem::path>& records,
                         const TrainedOptions& options = {});

// Parses overrides of a trained run. They may change its evaluation, written without the leading "evaluate."
// (search.width=10, lengths=[20], batch=8), and the location of its data (task..., plugins, files of init).
// measures: the `evaluate` options that the caller uses, "search" and so on. Throws SpecError for others.
std::vector<Override> trained_overrides(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& measures);

// Returns the spec of a record. Overrides may change the location of its data and plugins, and so may `plugins`.
ResolvedSpec<Spec> recorded_spec(const Record& record,
                                 const std::vector<std::string>& overrides,
                                 const std::vector<std::string>& plugins);

// Throws SpecError for models that read gold links, which new text does not have.
void refuse_links(const TrainedRuns& runs);

// Checks whether trained models have enough memory for sentences, and finds the longest source that fits.
class EvaluationSizes {
 public:
  // `runs` must outlive it.
  explicit EvaluationSizes(const TrainedRuns& runs)
      : runs_(runs), meter_(runs.options.sizes.machine.limit) {}

  // data: what is still to be computed. Throws SpecError as check_sizes does, and passes its note to the runs.
  void check(const EvaluationLoad& load, DataOutline data = {});

  // For sentences that arrive in blocks: checks a block that has a longer sentence than all before.
  // searched: false if they are scored.
  void check(const Split& split, bool searched);

  // Returns the longest source length, at most `longest`, such that a search over `sentences` such sources, in
  // batches of the run's size, fits in memory. Throws SpecError if not even one symbol fits.
  Index longest_source(Index longest, Index sentences);

 private:
  MemoryEstimate estimate(const EvaluationLoad& load, DataOutline data);

  const TrainedRuns& runs_;
  MemoryMeter meter_;
  Index longest_ = 0;
  Index fits_ = 0, exceeds_ = kLongestSentence + 1;  // lengths known to longest_source
};

// Loads the split "dev" or "test" of the run's data as it is now, with the record's vocabularies. missing: options
// whose files are missing, for errors.
Dataset load_data(const TrainedRun& run,
                  const std::string& split,
                  const std::vector<std::string>& missing,
                  const Progress& progress = {});

}  // namespace softalign
