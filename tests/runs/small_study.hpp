// Shared by tests of sweeps and studies: a study that runs in seconds.
#pragma once

#include <string>

#include "framework/config/spec.hpp"
#include "framework/train/spec.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

namespace softalign::test {

inline ResolvedSpec<Spec> resolve_spec(SpecTree tree) { return resolve<Spec>(std::move(tree)); }

inline constexpr const char* kSmallSpec = R"(
task: {type: reverse, symbols: 4, length: {train: [1, 4], dev: [1, 4], test: [1, 8]},
       examples: {train: 60, dev: 8, test: 30}}
model:
  embedding: 8
  encoder: {type: gru, units: 8}
  attention: {type: global, score: {type: additive, units: 4}}
  decoder: {type: attentional_gru, units: 8}
train: {epochs: 4, batch: {sentences: 10}}
evaluate: {search: {type: greedy}, lengths: [2, 4, 6]}
record: {alignments: 4}
)";

// Writes a study of two variants and two seeds, which runs in a second or two.
inline std::filesystem::path write_study(const Scratch& folder, const std::string& claims) {
  folder.write("base.yaml", kSmallSpec);
  return folder.write("study.yaml", R"(
name: small
question: Does it run?
seeds: [1, 2]
variants:
  none: {model.attention: none}
  additive: [model.attention.score.units=5, model.embedding=9]
parts:
  reverse:
    base: base.yaml
    overrides: {train: {optimizer: {learning_rate: 0.02}}}
    report: {metrics: [token_accuracy, perplexity]}
claims:
)" + claims);
}

}  // namespace softalign::test
