// Trained models, made again from their records alone: spec, vocabularies and parameters, or a checkpoint's.
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
  std::vector<Override> changes = {};     // of the first run's spec, see trained_overrides
  std::vector<std::string> plugins = {};  // loaded instead of those that the records name
  std::string state = {};                 // which parameters, see StateName
  Scorer::Mean mean = Scorer::Mean::probabilities;  // of an ensemble
  int threads = 0;                                  // 0: all of the machine's
  SizeCheck sizes = {};
  std::function<void(const std::string&)> note =
      {};  // takes "note: ...", what people should know, a line each
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
  std::string state;  // which one the model has; empty: that of the record's end
  const Spec& spec() const { return resolved.spec; }
  // Opened for each use: an open file would keep h5py, in the same process, from opening it.
  Record record() const { return Record(file); }
};

// One run, or several that form an ensemble. The first one's spec applies.
struct TrainedRuns {
  std::vector<TrainedRun> members;
  Scorer scorer;
  TrainedOptions options;

  const TrainedRun& first() const { return members.front(); }
  std::vector<std::string> ids() const;
  std::unique_ptr<Search> search() const;  // the first run's
  // Likewise; null where it has none. Throws as UnknownWords does, with the position of the option.
  std::unique_ptr<const UnknownWords> unknown_words() const;
  void note(const std::string& text) const {
    if (options.note) options.note(text);
  }
};

// Throws DataError for a run without parameters or one that does not fit its own spec, and
// SpecError for runs whose vocabularies or tasks differ.
TrainedRuns open_trained(const std::vector<std::filesystem::path>& records,
                         const TrainedOptions& options = {});

// Overrides of a run that is over may change how it is measured, written without the leading "evaluate."
// (search.width=10, lengths=[20], batch=8), and where its data is (task..., plugins, files of init). measures:
// the options of measuring that the caller has a use for, "search" and so on. Throws SpecError for others.
std::vector<Override> trained_overrides(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& measures);

// The spec in a record; overrides may change where its data and plugins are, and so may `plugins`.
ResolvedSpec<Spec> recorded_spec(const Record& record,
                                 const std::vector<std::string>& overrides,
                                 const std::vector<std::string>& plugins);

// Throws SpecError for models that read gold links, which new text does not have.
void refuse_links(const TrainedRuns& runs);

// Refuses or finds sentences that trained models would need more memory for than there is.
class EvaluationSizes {
 public:
  // `runs` must outlive it.
  explicit EvaluationSizes(const TrainedRuns& runs)
      : runs_(runs), meter_(runs.options.sizes.machine.limit) {}

  // data: what is still to be computed. Throws SpecError as check_sizes does; returns its note.
  void check(const EvaluationLoad& load, DataOutline data = {});

  // For sentences that arrive in pieces: checks those that are longer than all before. searched:
  // false if they are scored.
  void check(const Split& split, bool searched);

  // The longest source that can be searched, at most `longest`: `sentences` such sources, in batches as the run
  // has them, need no more memory than there is. Throws SpecError where not even one symbol does.
  Index longest_source(Index longest, Index sentences);

 private:
  MemoryEstimate estimate(const EvaluationLoad& load, DataOutline data);

  const TrainedRuns& runs_;
  MemoryMeter meter_;
  Index longest_ = 0;
  Index fits_ = 0, exceeds_ = kLongestSentence + 1;  // of longest_source: known lengths
};

// The split "dev" or "test" of the run's data as it is now, with the record's vocabularies. missing: options
// whose files are missing, named by errors.
Dataset load_data(const TrainedRun& run,
                  const std::string& split,
                  const std::vector<std::string>& missing,
                  const Progress& progress = {});

}  // namespace softalign
