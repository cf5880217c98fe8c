// A run shared by any number of ranks has the record of a single process; here ranks are threads.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <map>

#include "framework/record/published/compare.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/followers.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"
#include "tests/thread_ranks.hpp"
#include "tests/train/stopper.hpp"

using namespace softalign;
using namespace softalign::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kReverse =
    "task: {type: reverse, symbols: 9, length: {train: [2, 7], dev: [2, 7], test: [2, 9]},\n"
    "       examples: {train: 150, dev: 20, test: 30}}\n";

const std::map<std::string, std::string> kFamilies = {
    {"gru",
     std::string(kReverse) +
         "model: {embedding: 12, encoder: {type: gru, units: 10},\n"
         "        decoder: {type: attentional_gru, units: 11}, dropout: {embeddings: 0.1},\n"
         "        attention: {type: global, score: {type: additive, units: 9}}}\n"},
    {"lstm",
     std::string(kReverse) + "model: {embedding: 12, encoder: {type: lstm, units: 10},\n"
                             "        decoder: {type: attentional_lstm, units: 10},\n"
                             "        attention: {type: global, score: general}}\n"},
    {"transformer",
     std::string(kReverse) +
         "model: {embedding: 16, encoder: {type: self_attention, units: 16, heads: 2},\n"
         "        decoder: {type: transformer, units: 16, heads: 2},\n"
         "        attention: built_in, dropout: {embeddings: 0.2, outputs: 0.1}}\n"},
    {"hard",
     std::string(kReverse) +
         "model: {embedding: 12, encoder: {type: gru, units: 10},\n"
         "        decoder: {type: attentional_gru, units: 11},\n"
         "        attention: {type: hard, score: {type: additive, units: 9}}}\n"},
    {"frames",
     "task: {type: tones_for_test}\n"
     "model: {embedding: 12, encoder: {type: pyramidal_lstm, units: 10, layers: 2},\n"
     "        decoder: {type: attentional_gru, units: 11},\n"
     "        attention: {type: global, score: general}}\n"},
};

ResolvedSpec<Spec> spec_of(const std::string& family, const std::string& train = "groups: 4, ") {
  return parse_spec<Spec>("name: shared\n" + kFamilies.at(family) + "train: {" + train +
                              "batch: {sentences: 20}, accumulate: 2, epochs: 3,\n"
                              "        average: {type: exponential, decay: 0.7},\n"
                              "        early_stopping: {metric: dev/loss, patience: 2}}\n"
                              "evaluate: {search: {type: beam, width: 3}, batch: 8}\n"
                              "record: {checkpoint_every: 2, alignments: 10, snapshots: 3}\n",
                          "shared.yaml");
}

// stop_at: the update after which the first rank is asked to stop.
fs::path run(const ResolvedSpec<Spec>& spec,
             const fs::path& results,
             int ranks,
             int threads,
             Index stop_at = -1) {
  fs::path folder;
  ThreadRanks::run(ranks, [&](Ranks& own) {
    Stopper observer(stop_at);
    ExperimentOptions options{results, threads};
    options.ranks = &own;
    const ExperimentOutcome outcome = run_experiment(spec, options, observer);
    if (own.first()) folder = outcome.folder;
  });
  return folder / "run.h5";
}

void same(const fs::path& a, const fs::path& b) {
  const auto differing = compare_records(a, b);
  BOOST_TEST_CONTEXT((differing.empty() ? std::string() : differing.front()))
  BOOST_TEST(differing.empty());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_runs)

BOOST_AUTO_TEST_CASE(ranks_and_threads_change_no_bit) {
  for (const auto& [family, text] : kFamilies) BOOST_TEST_CONTEXT(family) {
      const Scratch folder;
      const auto spec = spec_of(family);
      const fs::path alone = run(spec, folder / "alone", 1, 1);
      for (const int ranks : {1, 2, 4})
        for (const int threads : {1, 2})
          if (ranks * threads > 1)
            same(alone, run(spec, folder / fmt::format("{}{}", ranks, threads), ranks, threads));
      BOOST_TEST(!compare_records(alone, run(spec_of(family, ""), folder / "no", 1, 1)).empty());
    }
}

BOOST_AUTO_TEST_CASE(another_number_of_ranks_resumes_an_interrupted_run) {
  const Scratch folder;
  const auto spec = spec_of("gru");
  const fs::path whole = run(spec, folder / "whole", 1, 1);
  int ranks = 4;
  for (const Index stop : {1, 3, 4, 5, 8}) {
    BOOST_CHECK_THROW(run(spec, folder / "often", ranks, 1, stop), Interrupted);
    ranks = ranks == 1 ? 4 : ranks / 2;
  }
  same(whole, run(spec, folder / "often", 2, 1));
  BOOST_TEST(run(spec, folder / "often", 2, 1) ==
             folder / "often" / "shared" / whole.parent_path().filename() / "run.h5");
}

BOOST_AUTO_TEST_CASE(what_ranks_must_have_in_common) {
  const Scratch folder;
  BOOST_TEST(contains(message_of<SpecError>([&] { run(spec_of("gru"), folder / "many", 8, 1); }),
                      "8 ranks, but train.groups is 4"));
  BOOST_TEST(contains(message_of<SpecError>([&] { run(spec_of("gru"), folder / "odd", 3, 1); }),
                      "3 ranks; their number must be a power of two"));
  const auto differing = [&] {
    ThreadRanks::run(4, [&](Ranks& own) {
      Observer observer;
      ExperimentOptions options{folder / "other", 1};
      options.ranks = &own;
      run_experiment(spec_of(own.rank() == 2 ? "lstm" : "gru"), options, observer);
    });
  };
  const std::string text = message_of<SpecError>(differing);
  BOOST_TEST(contains(text, "rank 2: spec and data of run "));
  BOOST_TEST(contains(text, " on rank 0"));
  BOOST_TEST(!fs::exists(folder / "other"));
}

// The first rank reports it.
BOOST_AUTO_TEST_CASE(the_failure_of_a_rank_names_it) {
  const auto failing = [](int which) {
    ThreadRanks::run(4, [&](Ranks& own) {
      try {
        agree(own, [&]() -> std::string {
          if (own.rank() == which) throw DataError("no such file");
          return "a file";
        });
      } catch (const Dismissed&) {
        if (own.first()) throw BugError("the first rank is dismissed");
      }
    });
  };
  BOOST_TEST(contains(message_of<SpecError>([&] { failing(3); }), "rank 3: no such file"));
  BOOST_TEST(message_of<DataError>([&] { failing(0); }) == "no such file");
}

BOOST_AUTO_TEST_SUITE_END()
