// Trained models, made again from their records alone: spec, vocabularies and parameters.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/app/terminal/runs.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/progress.hpp"
#include "framework/eval/search.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/train/check_sizes.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

struct TrainedRun {
  Record record;
  ResolvedSpec<Spec> resolved;
  std::shared_ptr<const Vocabulary> source;  // null: sources are frames
  FrameFormat frames;
  std::shared_ptr<const Vocabulary> target;
  std::unique_ptr<Model> model;
  std::string state;  // which one the model has; empty: that of the record's end
  const Spec& spec() const { return resolved.spec; }
};

// One run, or several whose models are asked together: an ensemble. The first one's spec counts.
struct TrainedRuns {
  std::vector<TrainedRun> members;
  Scorer scorer;

  const TrainedRun& first() const { return members.front(); }
  std::vector<std::string> ids() const;
  std::unique_ptr<Search> search() const;  // the first run's
};

// Throws SpecError for models that are told how words belong together: new text has no known links.
void refuse_links(const TrainedRuns& runs);

// Overrides of a run that is over may change how it is measured, written without the leading
// "evaluate." (search.width=10, lengths=[20], batch=8), and where its data is (task..., files of
// init). `plugins`, or the
// override plugins=[FILE], are loaded in place of those that the record names. `measures`: those of the former that a command has a use for, "search" and so on; it
// refuses others.
struct TrainedArguments {
  RunArgument run;
  std::vector<std::string> more;  // further runs, and overrides: what holds a '='
  std::vector<std::string> plugins;
  std::string search;
  bool ensemble = false;
  std::string average = "probabilities";
  std::string state;
  int threads = 0;  // 0: all of the machine's
  SizeCheck sizes = {};
  std::vector<std::string> measures = {};
  void add_to(CLI::App& command, std::vector<std::string> used);
};

// Throws DataError for a run without parameters or one that does not fit its own spec, and
// SpecError for several runs without `ensemble`, or whose vocabularies or tasks differ. Names the members.
TrainedRuns open_trained(const TrainedArguments& arguments);

// Refuses sentences that trained models would need more memory for than there is.
class EvaluationSizes {
 public:
  // Both must outlive it.
  EvaluationSizes(const TrainedRuns& runs, const TrainedArguments& arguments)
      : runs_(runs), arguments_(arguments), meter_(arguments.sizes.machine.limit) {}

  // data: what is still to be made. Throws SpecError as check_sizes does; prints its note.
  void check(const EvaluationLoad& load, DataOutline data = {});

  // For sentences that come bit by bit: those that are longer than all before them are looked at.
  // searched: false: they are scored.
  void check(const Split& split, bool searched);

 private:
  const TrainedRuns& runs_;
  const TrainedArguments& arguments_;
  MemoryMeter meter_;
  Index longest_ = 0;
};

// The spec in a record; overrides may change where its data and plugins are, and so may `plugins`.
ResolvedSpec<Spec> recorded_spec(const Record& record,
                                 const std::vector<std::string>& overrides,
                                 const std::vector<std::string>& plugins);

// `--plugin` of commands that read a record.
void add_record_plugin_option(CLI::App& command, std::vector<std::string>& plugins);

// The split "dev" or "test" of the run's data as it is now, with the record's vocabularies. missing: options whose files are
// not there, which an error names.
Dataset load_data(const TrainedRun& run,
                  const std::string& split,
                  const std::vector<std::string>& missing,
                  const Progress& progress = {});

}  // namespace softalign::app
