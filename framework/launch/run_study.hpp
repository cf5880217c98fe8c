// Runs a study to its end: every run that is not complete, one after the other, then its tables and
// claims.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "framework/launch/study_report.hpp"
#include "framework/train/experiment.hpp"

namespace softalign {

// Told before each run that has something to do, `number` of `count` from 1; returns who watches
// it.
using WatchRun = std::function<std::unique_ptr<Observer>(
    const StudyRun&, std::size_t number, std::size_t count)>;

// The runs whose "part/variant" fits the shell pattern; all for "".
std::vector<StudyRun> chosen_runs(const std::vector<StudyRun>& runs, const std::string& pattern);

// Runs those of `chosen` that are not complete, then reads all of `runs`. A run that another process
// works on is left to it and looked at once more at the end.
// <results>/<study>/study.json is replaced after every run. Throws Interrupted after saving; the
// same call goes on. Throws as check_replaceable, before the first run, for another study.json.
StudyOutcome run_study(const Study& study,
                       const std::vector<StudyRun>& runs,
                       const std::vector<StudyRun>& chosen,
                       const ExperimentOptions& options,
                       const WatchRun& watch);

}  // namespace softalign
