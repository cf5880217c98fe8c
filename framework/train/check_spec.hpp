// What a spec, and its data, must satisfy beyond types and ranges, before the first file is written.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/config/spec.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/task.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// Throws SpecError with a line for every fault that is found, each with its place. Builds every plugin, with
// placeholders for vocabularies: a constructor that throws SpecError refuses its options or its company.
// Reads no data. compared: a dev metric that somebody
// compares runs by, "dev/" and a name, if it must be measured.
void check_spec(const ResolvedSpec<Spec>& resolved, const std::string& compared = {});

// Throws SpecError for a registered metric that breaks a law of its kind: a test measures all of them.
void check_metrics();

// What has come of the task's own outline.
DataOutline outline_of(const Dataset& data);
DataOutline outline_of(const Dataset& data, const Spec& spec);  // with the cells of its baselines
DataOutline::SplitOutline outline_of(const Split& split);

// Does `check`; a SpecError of it that begins with an option, "train.loss: ...", gets the place of that, or
// of the block around it, unless it has one.
void check_options(const ResolvedSpec<Spec>& resolved, const std::function<void()>& check);

// As check_spec, for what is known once the data has been read; prunes: somebody compares dev metrics while it
// trains. Returns notes for people.
std::vector<std::string> check_data(const ResolvedSpec<Spec>& resolved,
                                    const Dataset& data,
                                    const Model& model,
                                    bool prunes);

}  // namespace softalign
