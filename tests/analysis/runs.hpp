// Shared by the analysis tests: small runs as a trainer leaves them.
#pragma once

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "framework/analysis/run.hpp"
#include "tests/record/support.hpp"

namespace softalign::test {

// The identity of a run with this seed.
inline RunIdentity seeded(Index seed, const std::string& name = "study") {
  const std::string json = fmt::format("{{\"seed\":{}}}", seed);
  return {.name = name,
          .run_id = run_id(identity(json)),
          .spec_yaml = fmt::format("name: {}\nseed: {}\n", name, seed),
          .identity_json = json};
}

// Records `updates` training steps, with dev results after every fourth.
inline void train_some(Recorder& record, Index updates) {
  for (Index u = 1; u <= updates; ++u) {
    record.scalars("train", u, {{"loss", 10.0 / static_cast<double>(u)}, {"tokens_per_s", 1e3}});
    if (u % 4 > 0) continue;
    const double bleu = u == 8 ? 50 : static_cast<double>(u);  // best in the middle
    record.scalars("dev", u, {{"loss", 1.0 / static_cast<double>(u)}, {"bleu", bleu}});
  }
}

inline RunFolder complete_run(const std::filesystem::path& results,
                              const RunIdentity& run,
                              Index updates = 12) {
  Recorder record(results, run);
  train_some(record, updates);
  record.array("test/by_length", "label", {{"bucket", 1}}, std::vector<std::string>{"all lengths"});
  record.array("test/by_length",
               "bleu",
               {{"bucket", 1}},
               std::vector<double>{21.5},
               {{"units", "percent"}, {"signature", "tok:none"}});
  record.array("test/by_length", "loss", {{"bucket", 1}}, std::vector<double>{0.5});
  record.attributes(
      "test", {{"sentences", 7}, {"bleu", 21.5}, {"bleu_signature", "tok:none"}, {"loss", 0.5}});
  record.end(RunState::complete);
  return {results / run.name / run.run_id};
}

}  // namespace softalign::test
