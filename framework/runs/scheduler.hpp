// A scheduler is a file of templates: configs/schedulers/NAME.yaml, or one of the site's own. Nothing else here knows
// what it is called, so everything it needs is one of these keys.
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

// Values of placeholders; empty: no value. `options` may have several lines.
using Placeholders = std::map<std::string, std::string>;

// Replaces {name}, and leaves ${name} to the shell. A part between {? and ?} is dropped if a placeholder in it has no
// value, and so is a line. Throws SpecError that begins with `what` for a name that is not in the map.
std::string expand(const std::string& text, const Placeholders& values, const std::string& what);

struct Scheduler {
  std::string name;  // as --scheduler has it, or the file's absolute path
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

  // A name of those that come with the program, or a YAML file. Throws SpecError.
  static Scheduler read(const std::string& name_or_file);

  // Runs a command in `folder`.
  ProgramOutcome run(const std::string& command,
                     const Placeholders& values,
                     const std::filesystem::path& folder,
                     const std::string& input = "") const;
  // The name of the cluster. Throws MachineError when the scheduler does not answer.
  std::string ask_cluster(const std::filesystem::path& folder) const;
  // The indices of an array's tasks that wait or run. Throws MachineError when the scheduler does not answer.
  std::set<Index> waiting(const std::string& array,
                          const std::string& job,
                          const std::filesystem::path& folder) const;
  // The ID in what `submit` printed. Throws MachineError.
  std::string job_in(const std::string& output) const;
};

// --scheduler, else SOFTALIGN_SCHEDULER, else "slurm".
std::string scheduler_name(const std::string& option);

// Returns the output of a program in one line.
std::string words_of(const ProgramOutcome& outcome);

}  // namespace softalign
