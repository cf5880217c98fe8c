// Which list of runs a command of sweeps is about, and how its specs are read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/app/experiments/load.hpp"
#include "framework/runs/plan.hpp"

namespace softalign::app {

struct SweepArguments {
  std::string file;                         // the sweep's YAML, its folder, or its plan
  NamedPlugins named = NamedPlugins::load;  // by the file, which a folder may have named itself
  std::string out = "results";
  std::vector<std::string> plugins;
  std::vector<std::string> overrides;  // of all runs
  std::string only;                    // runs whose part/variant fits this pattern
  bool tiny = false;

  std::vector<std::string> out_words() const;  // --out, where it is needed
  bool is_planned() const;                     // the file is a folder or a plan
};

// What a command works on.
struct SweepSubject {
  Plan plan;
  std::optional<Sweep> sweep;      // as its file says, where the command names that
  std::vector<StudyClaim> claims;  // the sweep's

  // Tables and verdicts are those of a study.
  bool is_study() const { return sweep && sweep->has_variants(); }
};

// Reads the specs that the sweep's file names, with the plugins that they, and the command line, name.
LoadSpec loader(const SweepArguments& arguments);
// The same of the specs in a sweep's folder, which may come from anywhere.
LoadSpec frozen_loader(const SweepArguments& arguments);

// `--plugin FILE` for each plugin that the user named, on the command line or in the sweep's file: workers
// see a folder alone. Throws SpecError when the plan needs a plugin that is not named.
std::vector<std::string> plugin_words(const RunList& list, const SweepArguments& arguments);

// Of a list's folder the file that it was planned from. Throws SpecError when that is gone.
void find_sweep_file(SweepArguments& arguments);
// The list on disk, or the one that a file stands for now. Nothing is written.
SweepSubject subject_of(const SweepArguments& arguments);
// Writes a list that is new. One of variants grows by what is new in its file, one of parameters by `extend`
// alone. Returns whether there was none.
bool keep(const RunList& made);
// The same; the list is then the one on disk. Notes go to standard error.
void keep(const SweepArguments& arguments, SweepSubject& subject);

// The list on disk. Throws SpecError when there is none.
RunList planned(const SweepArguments& arguments);

// The file of a list, as it is now; nothing where it is gone.
std::optional<Sweep> file_of(const SweepArguments& arguments, const RunList& list);
// What it claims of rows of parameters. Throws SpecError for a file that is not the sweep's any more.
std::vector<StudyClaim> claims_of(const SweepArguments& arguments, const RunList& list);
// The same with a note on standard error in place of the exception.
std::vector<StudyClaim> claims_or_note(const SweepArguments& arguments, const RunList& list);

}  // namespace softalign::app
