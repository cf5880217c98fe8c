#include "framework/launch/run_study.hpp"

#include "framework/record/claim.hpp"
#include "framework/record/file.hpp"
#include "framework/record/publish.hpp"
#include "framework/record/tidy.hpp"

namespace softalign {

std::vector<StudyRun> chosen_runs(const std::vector<StudyRun>& runs, const std::string& pattern) {
  std::vector<StudyRun> chosen;
  for (const StudyRun& run : runs)
    if (is_chosen(run.part, run.variant, pattern)) chosen.push_back(run);
  return chosen;
}

StudyOutcome run_study(const Study& study,
                       const std::vector<StudyRun>& runs,
                       const std::vector<StudyRun>& chosen,
                       const ExperimentOptions& options,
                       const WatchRun& watch) {
  for (const StudyRun& run : chosen)  // rather now than after hours
    if (const Spec& spec = run.resolved.spec; options.force || !end_is_published({run.folder}))
      check_run_sizes(run.resolved,
                      make_plugin<TaskKind>(spec.task)->outline(),
                      threads_of_run(options.threads, spec),
                      options.sizes);
  ExperimentOptions own = options;
  own.results /= study.name;
  check_replaceable(own.results / "study.json", is_study_json);
  const auto write = [&](const StudyOutcome& outcome) {
    FileSystem::real().make_folders(own.results);
    FileSystem::real().write_atomically(own.results / "study.json",
                                        study_json(study, runs, outcome));
  };
  const auto run = [&](std::size_t i, const char* what_then) {
    const auto observer = watch(chosen[i], i + 1, chosen.size());
    try {
      run_experiment(chosen[i].resolved, own, *observer);
    } catch (const RunInUse& error) {
      observer->message(fmt::format("{}; {}", error.what(), what_then));
      return false;
    } catch (const Error&) {  // interrupted, or failed: study.json says which run
      write({});
      throw;
    }
    write({});
    return true;
  };
  std::vector<std::size_t> in_use;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (!run(i, "going on with the others")) in_use.push_back(i);
  std::erase_if(in_use, [&](std::size_t i) { return run(i, "left to it"); });
  const StudyResults results(runs);
  StudyOutcome outcome{study_tables(study, runs, results), judge(study, results)};
  outcome.in_use = std::ssize(in_use);
  write(outcome);
  return outcome;
}

}  // namespace softalign
