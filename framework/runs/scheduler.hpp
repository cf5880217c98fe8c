// A scheduler is a file of templates: configs/schedulers/NAME.yaml, or a site's own file. No other code depends on
// particular schedulers, so all that it needs is in these keys.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/config/options.hpp"

namespace softalign {

// Values of placeholders; an empty text means no value. `options` may have several lines.
using Placeholders = std::map<std::string, std::string>;

// Replaces {name}, but not ${name}, which is for the shell. Drops a part between {? and ?}, or else a line, in which a
// placeholder has no value. For a name that is not in the map, throws a SpecError that begins with `what`.
std::string expand(const std::string& text, const Placeholders& values, const std::string& what);

struct Scheduler {
  std::string name;  // as given to --scheduler, or the file's absolute path
  std::string script, submit, job, status, task, cancel, check, cluster;
  Index array_size = 1000;
  Index first_index = 0;
  Index fewest = 1;

  template <class V>
  void describe(V& v) {
    v("script", script, "script of a job array; {work} is the command of a row", required());
    v("submit", submit, "command that submits {script}", required());
    v("job",
      job,
      "regular expression whose group is the job's ID in the output of submit",
      required());
    v("status",
      status,
      "command that prints the queued and running tasks; fails if they are unknown",
      required());
    v("task",
      task,
      "regular expression whose group is the array index in a line of status",
      required());
    v("cancel", cancel, "command that cancels {job} of {array}", required());
    v("check",
      check,
      "command that checks a script on its standard input before anything is submitted");
    v("cluster",
      cluster,
      "command that prints the name of the cluster; jobs of other clusters are not queried");
    v("array_size", array_size, "largest number of tasks of an array", at_least(1));
    v("first_index", first_index, "index of the first task of an array", between(0, 1));
    v("fewest", fewest, "smallest number of tasks of an array", at_least(1));
  }

  // name_or_file: a scheduler that comes with the program, or a YAML file. Throws SpecError.
  static Scheduler read(const std::string& name_or_file);

  // Runs a command in `folder`.
  ProgramOutcome run(const std::string& command,
                     const Placeholders& values,
                     const std::filesystem::path& folder,
                     const std::string& input = "") const;
  // Returns the name of the cluster. Throws MachineError if the scheduler does not answer.
  std::string ask_cluster(const std::filesystem::path& folder) const;
  // Returns the indices of an array's waiting and running tasks. Throws MachineError if the scheduler does not answer.
  std::set<Index> waiting(const std::string& array,
                          const std::string& job,
                          const std::filesystem::path& folder) const;
  // Returns the job ID in the output of `submit`. Throws MachineError if there is none.
  std::string job_in(const std::string& output) const;
};

// Returns the option --scheduler, else SOFTALIGN_SCHEDULER, else "slurm".
std::string scheduler_name(const std::string& option);

// Returns the output of a program in one line.
std::string words_of(const ProgramOutcome& outcome);

}  // namespace softalign
