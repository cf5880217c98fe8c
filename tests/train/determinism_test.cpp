// A spec determines its record: threads, interruptions and resumptions do not matter.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "framework/base/files.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/writer.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/train/experiment.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"
#include "tests/train/stopper.hpp"

using namespace softalign;
using namespace softalign::test;
namespace {

// more: keys of spec.model and spec.train, or of their plugins.
ResolvedSpec<Spec> tiny(const std::string& attention,
                        const std::string& model = "",
                        const std::string& train = "") {
  return parse_spec<Spec>(
      "name: tiny\n"
      "task: {type: reverse, symbols: 9, length: {train: [2, 7], dev: [2, 7], test: [2, 9]},\n"
      "       examples: {train: 150, dev: 20, test: 30}}\n"
      "model:\n"
      "  embedding: 12\n"
      "  encoder: {type: gru, units: 10}\n"
      "  attention: " +
          attention +
          "\n"
          "  decoder: {type: attentional_gru, units: 11}\n" +
          model + "train: {" + train +
          "batch: {sentences: 20}, epochs: 3, early_stopping: {metric: "
          "dev/bleu, patience: 2}}\n"
          "evaluate: {search: {type: beam, width: 3}, batch: 8}\n"
          "record: {checkpoint_every: 5, alignments: 10, snapshots: 3}\n",
      "tiny.yaml");
}

fs::path run(const fs::path& results,
             const std::string& attention,
             int threads,
             Index stop_at = -1) {
  Stopper observer(stop_at);
  const ExperimentOutcome outcome = run_experiment(tiny(attention), {results, threads}, observer);
  return outcome.folder / "run.h5";
}

void same(const fs::path& a, const fs::path& b) {
  const auto differing = compare_records(a, b);
  BOOST_TEST_CONTEXT((differing.empty() ? std::string() : differing.front()))
  BOOST_TEST(differing.empty());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(determinism)

BOOST_AUTO_TEST_CASE(threads_change_no_bit) {
  const Scratch folder;
  for (const char* attention : {"{type: global, score: {type: additive, units: 9}}",
                                "none",
                                "{type: global, score: general}"}) {
    const fs::path one = run(folder / "one", attention, 1);
    same(one, run(folder / "two", attention, 2));
    same(one, run(folder / "three", attention, 3));
    for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove_all(entry);
  }
}

BOOST_AUTO_TEST_CASE(interruption_and_resumption_change_no_bit) {
  const Scratch folder;
  const std::string attention = "{type: global, score: {type: additive, units: 9}}";
  const fs::path whole = run(folder / "whole", attention, 2);
  for (const Index stop : {0, 1, 4, 8, 9, 17, 24}) {
    const fs::path results = folder / fmt::format("stopped-{}", stop);
    BOOST_CHECK_THROW(run(results, attention, 1, stop), Interrupted);
    same(whole, run(results, attention, 2));
  }
  // With many interruptions.
  for (Index stop = 3; stop < 24; stop += 3)
    BOOST_CHECK_THROW(run(folder / "often", attention, 2, stop), Interrupted);
  same(whole, run(folder / "often", attention, 2));
}

// Interrupts at an arbitrary time of an update or an evaluation, in any thread.
BOOST_AUTO_TEST_CASE(a_step_that_is_left_in_its_midst_comes_again) {
  const Scratch folder;
  const std::string attention = "{type: global, score: {type: additive, units: 9}}";
  const fs::path whole = run(folder / "whole", attention, 2);
  int left = 0;
  for (int delay = 0; delay < 30; ++delay) {
    std::atomic<bool> abandoned = false;
    const AbandonScope scope(&abandoned);
    std::thread timer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * delay));
      abandoned = true;
    });
    try {
      run(folder / "left", attention, 1 + delay % 2);
    } catch (const Interrupted&) {
      ++left;
    }
    timer.join();
  }
  BOOST_TEST(left > 0);
  same(whole, run(folder / "left", attention, 2));
}

// All options of training together, with each kind of average and schedule, and one or two threads.
BOOST_AUTO_TEST_CASE(options_of_training_are_resumed_bit_for_bit) {
  const Scratch folder;
  const std::string model =
      "  dropout: {embeddings: 0.2, outputs: 0.1, words: 0.1}\n"
      "  initialise: {type: uniform, scale: 0.2, orthogonal: false}\n";
  const std::string losses =
      "label_smoothing: 0.1, doubly_stochastic: 0.5, coverage: 0.5, guided_alignment: {weight: "
      "0.5, decay: 0.5}, "
      "scheduled_sampling: {type: linear, k: 0.9, slope: 0.02, least: 0.5}, loss: sentence, "
      "clip_scope: without_embeddings, accumulate: 3, ";
  for (const char* rest :
       {"average: {type: exponential, decay: 0.7}, schedule: {type: plateau, metric: dev/loss}, ",
        "average: {type: last, epochs: 2}, schedule: {type: halve_after, epochs: 0.4, every: "
        "0.5}, ",
        "average: {type: last, epochs: 2, every: 2}, ",
        "average: {type: best, epochs: 2}, schedule: {type: noam, warmup: 3}, "}) {
    const auto go = [&](const char* name, int threads, Index stop) {
      Stopper observer(stop);
      const auto spec = tiny("{type: global, score: general}", model, losses + rest);
      return run_experiment(spec, {folder / name, threads}, observer).folder / "run.h5";
    };
    const fs::path whole = go("whole", 2, -1);
    same(whole, go("one", 1, -1));
    for (const Index stop : {1, 3, 4, 5, 6, 8})  // an epoch has 3 updates, of 3, 3 and 2 batches
      BOOST_CHECK_THROW(go("often", 1 + static_cast<int>(stop) % 2, stop), Interrupted);
    same(whole, go("often", 2, -1));
    for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove_all(entry);
  }
}

// Options with default values do not change the run ID.
BOOST_AUTO_TEST_CASE(options_that_are_not_given_are_no_part_of_the_identity) {
  const std::string json = run_name(tiny("none").spec).identity_json;
  for (const char* option : {"schedule",
                             "accumulate",
                             "\"groups\"",
                             "\"loss\"",
                             "label_smoothing",
                             "doubly_stochastic",
                             "\"coverage\"",
                             "guided_alignment",
                             "scheduled_sampling",
                             "clip_scope",
                             "average",
                             "\"dropout\":{",
                             "initialise"})
    BOOST_TEST(!contains(json, option));
  BOOST_TEST(run_name(tiny("none", "", "label_smoothing: 0.1, ").spec).identity_json != json);
}

void add_unnamed(const OptionNode& parent, std::set<std::string>& paths) {
  for (const OptionNode& node : parent.children) {
    if (!node.limits.changes_run) paths.insert(node.path);
    add_unnamed(node, paths);
  }
}

// Tries each option that is declared to change no result, with its extreme values.
BOOST_AUTO_TEST_CASE(what_makes_no_other_run_changes_no_bit) {
  using Change = std::function<void(Spec&)>;
  const auto batch = [](Index size) { return [=](Spec& spec) { spec.evaluate.batch = size; }; };
  const auto every = [](Index n) { return [=](Spec& spec) { spec.record.checkpoint_every = n; }; };
  const auto keep = [](const char* which) { return [=](Spec& spec) { spec.record.keep = which; }; };
  const std::map<std::string, std::vector<Change>> changes = {
      {"name", {[](Spec& spec) { spec.name = "other"; }}},
      {"notes", {[](Spec& spec) { spec.notes = "of no account"; }}},
      {"tags", {[](Spec& spec) {
         spec.tags = {"a", "b"};
       }}},
      {"plugins", {[](Spec& spec) { spec.plugins = {"elsewhere.so"}; }}},
      {"evaluate.batch", {batch(1), batch(7), batch(1000)}},
      {"record.checkpoint_every", {every(1), every(1000)}},
      {"record.keep", {keep("none"), keep("best"), keep("all")}}};
  std::set<std::string> marked, tried;
  add_unnamed(values_of(tiny("none").spec), marked);
  for (const auto& [path, values] : changes) tried.insert(path);
  BOOST_TEST(marked == tried, boost::test_tools::per_element());

  auto transformer = parse_spec<Spec>(
      "task: {type: copy, symbols: 8, length: {train: [1, 9], dev: [1, 9], test: [1, 12]},\n"
      "       examples: {train: 60, dev: 20, test: 30}}\n"
      "model: {embedding: 16, encoder: {type: self_attention, units: 16, layers: 1, heads: 2},\n"
      "  attention: built_in, decoder: {type: transformer, units: 16, layers: 1, heads: 2}}\n"
      "train: {batch: {sentences: 20}, epochs: 2}\n"
      "evaluate: {search: {type: sample, samples: 3}}\n",
      "transformer.yaml");
  for (const ResolvedSpec<Spec>& spec : {tiny("none"),
                                         tiny("{type: global, score: {type: additive, units: 9}}"),
                                         tiny("{type: local_m, score: general}"),
                                         transformer}) {
    const Scratch folder;
    Stopper observer(-1);
    const auto made = run_experiment(spec, {folder / "as-it-is", 2}, observer);
    for (const auto& [path, values] : changes)
      for (const Change& change : values) {
        auto changed = spec;
        change(changed.spec);
        const auto other = run_experiment(changed, {folder / "changed", 2, true}, observer);
        BOOST_TEST(other.run_id == made.run_id, path);
        BOOST_TEST_CONTEXT(path) same(made.folder / "run.h5", other.folder / "run.h5");
      }
  }
}

BOOST_AUTO_TEST_CASE(only_what_changes_no_number_differs_between_spec_and_identity) {
  const Scratch folder;
  Stopper observer(-1);
  const auto made = run_experiment(tiny("none"), {folder.path(), 2}, observer);
  const RunFolder run{made.folder};
  const std::vector<std::string> except = Spec::options_outside_run_id();
  BOOST_TEST(except == (std::vector<std::string>{"name",
                                                 "notes",
                                                 "tags",
                                                 "plugins",
                                                 "evaluate.batch",
                                                 "record.checkpoint_every",
                                                 "record.keep"}),
             boost::test_tools::per_element());
  BOOST_CHECK_NO_THROW(check_spec_files(run, made.run_id, except));
  const auto refused = [&](const std::vector<std::string>& allowed, const std::string& option) {
    BOOST_TEST(contains(message_of<DataError>([&] { check_spec_files(run, made.run_id, allowed); }),
                        option + " does not match"));
  };
  refused({}, "evaluate.batch");
  std::string spec = read_file(run.spec());
  const auto at = spec.find("  alignments: ");
  BOOST_REQUIRE(at != std::string::npos);
  spec.insert(at + 14, "1");
  FileSystem::real().write_atomically(run.spec(), spec);
  refused(except, "record.alignments");
}

BOOST_AUTO_TEST_CASE(initial_weights_may_be_drawn_otherwise) {
  const auto model = [](const std::string& initialise) {
    return std::make_unique<Model>(
        tiny("{type: global, score: {type: additive, units: 9}}", initialise).spec.model,
        12,
        12,
        5);
  };
  const auto before = model(""), uniform = model("  initialise: {scale: 0.05}\n"),
             all = model("  initialise: {scale: 0.05, orthogonal: false}\n"),
             normal = model("  initialise: {type: normal, scale: 0.01}\n");
  int drawn = 0, kept = 0;
  double squares = 0, numbers = 0;
  for (std::size_t k = 0; k < before->parameters().all().size(); ++k) {
    const auto of = [k](const std::unique_ptr<Model>& one) {
      return one->parameters().all()[k].value();
    };
    const auto largest = [](View v) {
      real most = 0;
      for (real x : v) most = std::max(most, std::abs(x));
      return most;
    };
    BOOST_TEST(largest(of(all)) <= real(0.05));
    if (std::equal(of(before).begin(), of(before).end(), of(uniform).begin())) {
      ++kept;  // biases and orthogonal matrices
      BOOST_TEST(((largest(of(before)) == 0) == (largest(of(all)) == 0)));
      continue;
    }
    ++drawn;
    BOOST_TEST(largest(of(uniform)) <= real(0.05));
    BOOST_TEST(largest(of(uniform)) > real(0.02));
    for (real x : of(normal)) squares += static_cast<double>(x) * static_cast<double>(x);
    numbers += static_cast<double>(of(normal).size());
  }
  BOOST_TEST(drawn > 5);
  BOOST_TEST(kept > 5);
  BOOST_TEST(std::abs(std::sqrt(squares / numbers) / 0.01 - 1) < 0.05);
}

// The initial values of Bahdanau et al. 2015 (appendix B.1).
BOOST_AUTO_TEST_CASE(weights_that_are_named_begin_as_they_are_told) {
  const auto model = [](const std::string& weights) {
    return std::make_unique<Model>(
        tiny("{type: global, score: {type: additive, units: 9}}",
             "  initialise: {type: normal, scale: 0.01, weights: [" + weights + "]}\n")
            .spec.model,
        12,
        12,
        5);
  };
  const auto spread = [](const Model& of, const std::string& name) {
    for (const Parameter& parameter : of.parameters().all()) {
      if (parameter.name != name) continue;
      double squares = 0;
      for (const real x : parameter.value())
        squares += static_cast<double>(x) * static_cast<double>(x);
      return std::sqrt(squares / static_cast<double>(parameter.shape.size()));
    }
    return -1.0;
  };
  const auto before = model(""),
             after = model(
                 "decoder.attention.score.* = normal 0.001, decoder.attention.score.v = zeros, "
                 "decoder.start.b = constant 0.5, decoder.U = zeros, decoder.U = orthogonal");
  for (const Parameter& parameter : before->parameters().all()) {
    const std::string& name = parameter.name;
    const double now = spread(*after, name), old = spread(*before, name);
    BOOST_TEST_CONTEXT(name) {
      if (name == "decoder.attention.score.v")
        BOOST_TEST(now == 0);
      else if (name.starts_with("decoder.attention.score."))
        BOOST_TEST(std::abs(now / 0.001 - 1) < 0.5);
      else if (name == "decoder.start.b")
        BOOST_TEST(now == 0.5);
      else  // decoder.U, too, for which the later pattern counts
        BOOST_TEST(now == old);
    }
  }
  for (const char* wrong : {"decoder.attention.v = zeros",
                            "decoder.start.b = orthogonal",  // does not consist of square blocks
                            "decoder.start.b = normal x",
                            "decoder.start.b = nothing",
                            "decoder.start.b"})
    BOOST_CHECK_THROW(model(wrong), SpecError);
}

// Returns the second of four equal parts of every LSTM's bias.
BOOST_AUTO_TEST_CASE(forget_gates_begin_as_they_are_told) {
  const auto biases = [](const std::string& encoder, const std::string& decoder, double expected) {
    const ModelOptions options =
        parse_spec<ModelOptions>("{embedding: 4, encoder: {units: 4, type: " + encoder +
                                     "}, attention: {type: global, score: general}, decoder: "
                                     "{units: 4, type: " +
                                     decoder + "}}",
                                 "test")
            .spec;
    const Model model(options, 12, 12, 5);
    int found = 0;
    for (const Parameter& parameter : model.parameters().all()) {
      if (!parameter.name.ends_with("input.b")) continue;
      ++found;
      for (Index i = 0; i < parameter.shape.size(); ++i)
        BOOST_TEST(parameter.value().data[i] == (i / 4 == 1 ? expected : 0));
    }
    return found;
  };
  BOOST_TEST(biases("lstm", "luong_lstm, layers: 2", 1) == 4);
  BOOST_TEST(biases("lstm, forget_bias: 0", "luong_lstm, layers: 2, forget_bias: 0", 0) == 4);
  BOOST_TEST(biases("lstmn, forget_bias: 0.5", "attentional_lstm, forget_bias: 0.5", 0.5) == 2);
}

BOOST_AUTO_TEST_CASE(another_seed_is_another_run) {
  const Scratch folder;
  auto other = tiny("none");
  const std::string before = run_name(other.spec).run_id;
  other.spec.seed = 2;
  BOOST_TEST(before != run_name(other.spec).run_id);
  other.spec.seed = 1;
  other.spec.notes = "only words";
  BOOST_TEST(before == run_name(other.spec).run_id);
  const fs::path one = run(folder / "one", "none", 1);
  Stopper observer(-1);
  other.spec.seed = 2;
  const auto two = run_experiment(other, {folder / "two", 1}, observer);
  BOOST_TEST(!compare_records(one, two.folder / "run.h5").empty());
}

// Stops in the middle of the n-th evaluation of a split.
struct EvaluationStopper final : Observer {
  EvaluationStopper(std::string where, int number) : what("evaluating " + where), left(number) {
    if (where == "test") what = "testing";
  }
  void stage(std::string_view now, Index done, Index total) override {
    if (now == what && done < total && total > 0) stop = stop || --left == 0;
  }
  bool stop_requested() override { return stop; }
  std::string what;
  int left;
  bool stop = false;
};

BOOST_AUTO_TEST_CASE(an_evaluation_that_was_interrupted_is_done_again) {
  const Scratch folder;
  const std::string attention = "{type: global, score: {type: additive, units: 9}}";
  const fs::path whole = run(folder / "whole", attention, 1);
  for (const auto& [where, number] : {std::pair("dev", 1), {"dev", 3}, {"dev", 5}, {"test", 2}}) {
    const fs::path results = folder / fmt::format("{}-{}", where, number);
    EvaluationStopper observer(where, number);
    BOOST_CHECK_THROW(run_experiment(tiny(attention), {results, 1}, observer), Interrupted);
    BOOST_TEST(observer.stop);
    const RunFolder stopped{run(results, attention, 1).parent_path()};
    BOOST_TEST(stopped.journals().size() == 2u);
    same(whole, stopped.record());
  }
}

// Another score does not change the other initial parameters.
BOOST_AUTO_TEST_CASE(initial_parameters_are_drawn_by_name) {
  const auto initial = [](const std::string& attention) {
    ModelOptions options = tiny(attention).spec.model;
    auto model = std::make_unique<Model>(options, 12, 12, 5);
    return model;
  };
  const auto additive = initial("{type: global, score: {type: additive, units: 9}}"),
             general = initial("{type: global, score: general}");
  int compared = 0;
  for (const Parameter& a : additive->parameters().all())
    for (const Parameter& b : general->parameters().all()) {
      if (a.name != b.name) continue;
      BOOST_TEST(
          std::equal(a.value().begin(), a.value().end(), b.value().begin(), b.value().end()));
      ++compared;
    }
  BOOST_TEST(compared > 10);
}

// The last checkpoint is that of the epoch's last update, before its evaluation.
BOOST_AUTO_TEST_CASE(a_run_that_dies_when_it_is_pruned_keeps_its_last_evaluation) {
  struct Dies final : Observer {
    void message(std::string_view text) override {
      if (text.starts_with("pruned")) throw std::runtime_error("killed");
    }
  } dies;
  Observer lives;
  const Scratch folder;
  auto resolved = tiny("none");
  resolved.spec.record.checkpoint_every = 8;  // the updates of an epoch
  const auto pruned_in = [&](const char* results, Observer& observer) {
    ExperimentOptions options{folder / results, 1};
    options.pruner = [](const fs::path&) { return std::make_unique<StopAtUpdate>(16); };
    return run_experiment(resolved, options, observer).folder / "run.h5";
  };
  const fs::path undisturbed = pruned_in("undisturbed", lives);
  BOOST_CHECK_THROW(pruned_in("killed", dies), std::runtime_error);
  same(undisturbed, pruned_in("killed", lives));
}

BOOST_AUTO_TEST_SUITE_END()
