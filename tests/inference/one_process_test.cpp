// The library in one process: several runs, one of them interrupted and one abandoned within a step, and models that
// are used between them give the bits of separate processes.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "framework/base/files.hpp"
#include "framework/base/workers.hpp"
#include "framework/inference/evaluate_run.hpp"
#include "framework/inference/translator.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/train/experiment.hpp"
#include "tests/child.hpp"
#include "tests/scratch.hpp"
#include "tests/train/stopper.hpp"

using namespace softalign;
using namespace softalign::test;
namespace {

ResolvedSpec<Spec> tiny(const std::string& attention) {
  return parse_spec<Spec>(
      "name: tiny\n"
      "task: {type: reverse, symbols: 9, length: {train: [2, 7], dev: [2, 7], test: [2, 9]},\n"
      "       examples: {train: 150, dev: 20, test: 30}}\n"
      "model: {embedding: 12, encoder: {type: gru, units: 10, layers: 2, dropout: 0.1},\n"
      "        attention: " +
          attention +
          ", decoder: {type: attentional_gru, units: 20}}\n"
          "train: {batch: {sentences: 20}, epochs: 3}\n"
          "evaluate: {search: {type: beam, width: 3}}\n",
      "tiny.yaml");
}

// Abandons the step after this update.
struct Abandoner final : Observer {
  Abandoner(std::atomic<bool>& abandon, Index update) : flag(abandon), last(update) {}
  void update(const TrainingProgress& progress) override { flag = progress.update >= last; }
  std::atomic<bool>& flag;
  Index last;
};

void train_and_abandon(const fs::path& results, const std::string& attention, Index update) {
  std::atomic<bool> flag = false;
  const AbandonScope scope(&flag);
  Abandoner observer(flag, update);
  run_experiment(tiny(attention), {results, 2}, observer);
}

fs::path train(const fs::path& results, const std::string& attention, Index stop_at = -1) {
  Stopper observer(stop_at);
  return run_experiment(tiny(attention), {results, 2}, observer).folder / "run.h5";
}

// Returns translations, forced decoding and metrics as JSON.
std::string answers(const fs::path& record) {
  const TrainedRuns runs = open_trained({record}, {.threads = 2});
  const Vocabulary& symbols = *runs.first().source;
  std::vector<std::string> lines;
  for (Token token = kSpecials; token + 2 < symbols.size(); ++token)
    lines.push_back(symbols.join({token, token + 1, token, token + 2}));
  std::string text;
  for (const Translation& one : Translator(runs, {.most = 2, .input = "text"}).translate(lines))
    text += translation_json(one, *runs.first().target).dump() + "\n";
  Index line = 0;
  for (const Hypothesis& one : ForcedDecoder(runs, "text").decode(lines, lines))
    text += score_json(line++, one, *runs.first().target).dump() + "\n";
  return text + remeasured_json(runs, evaluate_run(runs, "dev")).dump();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(one_process)

BOOST_AUTO_TEST_CASE(gives_the_bits_of_separate_processes) {
  const Scratch folder;
  const std::string additive = "{type: global, score: {type: additive, units: 9}}",
                    general = "{type: global, score: general}";
  const auto alone = [&](const std::string& name, const std::string& attention) {
    return in_child([&] {
      folder.write(name, answers(train(folder / "alone", attention)));
      return 0;
    });
  };
  BOOST_REQUIRE(alone("first", additive) == 0);
  BOOST_REQUIRE(alone("second", general) == 0);

  BOOST_CHECK_THROW(train(folder / "together", additive, 5), Interrupted);
  BOOST_CHECK_THROW(train_and_abandon(folder / "together", general, 3), Interrupted);
  const fs::path second = train(folder / "together", general);
  const std::string of_second = answers(second);
  const fs::path first = train(folder / "together", additive);
  BOOST_TEST(answers(first) == read_file(folder / "first"));
  BOOST_TEST(of_second == read_file(folder / "second"));
  BOOST_TEST(answers(second) == of_second);
  for (const fs::path& record : {first, second}) {
    const fs::path other = folder / "alone" / "tiny" / record.parent_path().filename() / "run.h5";
    BOOST_TEST(compare_records(record, other).empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
