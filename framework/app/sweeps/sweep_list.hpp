// Which list of runs a command of sweeps is about, and how its specs are read.
#pragma once

#include <string>
#include <vector>

#include "framework/app/experiments/load.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign::app {

struct SweepArguments {
  std::string file;                         // the sweep's YAML, its folder, or its plan
  NamedPlugins named = NamedPlugins::load;  // by the file, which a folder may have named itself
  std::string out = "results";
  std::vector<std::string> plugins;

  std::vector<std::string> out_words() const;  // --out, where it is needed
};

// Whether a YAML file is a study's, rather than a sweep's.
bool is_study(const std::filesystem::path& file);

// Reads the specs that the sweep's file names, with the plugins that they, and the command line, name.
LoadSpec loader(const SweepArguments& arguments);
// The same of the specs in a sweep's folder, which may come from anywhere.
LoadSpec frozen_loader(const SweepArguments& arguments);

// `--plugin FILE` for each plugin that the user named, on the command line or in the sweep's file: workers
// see a folder alone. Throws SpecError when the plan needs a plugin that is not named.
std::vector<std::string> plugin_words(const RunList& list, const SweepArguments& arguments);

// Of a list's folder the file that it was planned from. Throws SpecError when that is gone.
void find_sweep_file(SweepArguments& arguments);
// The list that a file stands for now.
RunList made_from(const SweepArguments& arguments);
// Writes a list that is new. A study's grows by what is new in its file, a sweep's by `extend` alone.
// Returns whether there was none.
bool keep(const RunList& made);

// The list on disk. Throws SpecError when there is none.
RunList planned(const SweepArguments& arguments);
// The same; it is made first when there is none, and a study's grows. `write`: and kept.
RunList planned_or_plan(const SweepArguments& arguments, bool write = true);

// What a sweep's file claims now; nothing for a study or where the file is gone. Throws SpecError for a
// file that is not the sweep's any more.
std::vector<StudyClaim> claims_of(const SweepArguments& arguments, const RunList& list);
// The same with a note on standard error in place of the exception.
std::vector<StudyClaim> claims_or_note(const SweepArguments& arguments, const RunList& list);

}  // namespace softalign::app
