// Estimates of memory against the memory that tapes used; and errors.
#include "framework/train/memory.hpp"

#include <boost/test/unit_test.hpp>

#include <numeric>

#include "framework/base/workers.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/train/check_sizes.hpp"
#include "framework/train/step.hpp"
#include "tests/message.hpp"

using namespace softalign;
using test::contains;

namespace {

constexpr double kPlenty = 1e15;

ResolvedSpec<Spec> spec_of(const std::string& model, const std::vector<std::string>& changes = {}) {
  return parse_spec<Spec>(
      "task: {type: reverse, symbols: 40, length: {train: [69, 69], dev: [69, 69], test: [127, "
      "127]},"
      " examples: {train: 64, dev: 8, test: 32}}\n"
      "train: {batch: {sentences: 64}}\n"
      "evaluate: {search: {type: beam, width: 3}, batch: 16}\n"
      "record: {alignments: 0, snapshots: 0}\n"
      "model: {" +
          model + "}\n",
      "memory_test",
      changes);
}

double part(const MemoryEstimate& estimate, const std::string& what) {
  for (const MemoryPart& one : estimate.parts)
    if (one.what == what) return one.bytes;
  BOOST_FAIL("no part " << what);
  return 0;
}

DataOutline outline(const Spec& spec) { return make_plugin<TaskKind>(spec.task)->outline(); }

struct Trained {
  Dataset data;
  std::unique_ptr<Model> model;
  explicit Trained(const Spec& spec)
      : data(make_plugin<TaskKind>(spec.task)->load(1, {})),
        model(std::make_unique<Model>(spec.model, data.source->size(), data.target->size(), 1)) {}
};

double bytes_of_a_step(const Spec& spec, int threads) {
  Trained trained(spec);
  Workers workers(threads);
  const auto optimizer = make_plugin<OptimizerKind>(spec.train.optimizer);
  TrainingStep step(*trained.model, *optimizer, step_options(spec.train, 1), workers);
  std::vector<Index> all(trained.data.train.examples.size());
  std::iota(all.begin(), all.end(), Index{0});
  TrainingStep::Parts parts;
  for (const auto& cut : cut_into_parts(trained.data.train, all, threads))
    parts.push_back(make_batch(trained.data.train, cut, trained.model->batch_parts()));
  step.run(parts, 1);
  return static_cast<double>(step.peak_bytes());
}

// For hypotheses that all reach their limit.
double bytes_of_a_test(const Spec& spec) {
  Trained trained(spec);
  for (const Parameter& one : trained.model->parameters().all())
    if (one.name == "projection.b") one.value().data[kEnd] = real(-1e9);
  const auto search = make_plugin<SearchKind>(spec.evaluate.search, std::uint64_t{1}, Index{0});
  EvaluationRequest request;
  request.search = search.get();
  request.batch = spec.evaluate.batch;
  Workers workers(1);
  const EvaluatedSplit result =
      evaluate(*trained.model, trained.data.test, *trained.data.target, request, workers);
  return result.tape_bytes + result.found_bytes + result.pack_bytes;
}

const std::vector<std::string> kModels = {
    "embedding: 24, encoder: {type: gru, units: 24}, attention: {type: global, score: {type: "
    "additive, units: 24}}, decoder: {type: attentional_gru, units: 24}",
    "embedding: 24, encoder: {type: lstm, units: 24}, attention: {type: global, score: general}, "
    "decoder: {type: luong_lstm, units: 24}, dropout: {embeddings: 0.1, outputs: 0.1}",
    "embedding: 24, encoder: {type: gru, units: 24}, attention: none, decoder: {type: "
    "attentional_gru, units: 24}",
    "embedding: 24, encoder: {type: convolutional}, attention: {type: global, score: general}, "
    "decoder: {type: conditional_gru, units: 24}",
    "embedding: 24, encoder: {type: self_attention}, attention: built_in, decoder: {type: "
    "transformer}",
    "embedding: 24, encoder: {type: gated_convolutional, units: 24}, attention: built_in, decoder: "
    "{type: convolutional, units: 24}",
    "embedding: 24, encoder: {type: stack, first: {type: gru, units: 24}, second: {type: lstm, "
    "units: 24}}, attention: {type: global, score: general}, decoder: {type: lstmn, units: 24}",
    "embedding: 24, encoder: {type: lstmn, units: 24}, attention: {type: local_p, score: {type: "
    "general}}, decoder: {type: luong_gru, units: 24}",
};

}  // namespace

BOOST_AUTO_TEST_CASE(training_takes_what_small_batches_promise) {
  for (const std::string& model : kModels)
    for (const int threads : {1, 2}) {
      const Spec spec = spec_of(model).spec;
      const double measured = bytes_of_a_step(spec, threads);
      for (const double exact : {0.0, 64e6}) {
        const double estimate =
            part(MemoryMeter(kPlenty, exact).of_run(spec, outline(spec), threads),
                 threads == 1 ? "activations" : "activations of all threads");
        BOOST_TEST(std::abs(estimate / measured - 1) < 0.1,
                   model << " on " << threads << ": " << estimate << " of " << measured);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_search_takes_what_short_sentences_promise) {
  for (const std::string& model : kModels) {
    const Spec spec = spec_of(model).spec;
    const double measured = bytes_of_a_test(spec);
    const double estimate =
        part(MemoryMeter(kPlenty, 0).of_run(spec, outline(spec), 1), "evaluation of test");
    BOOST_TEST(std::abs(estimate / measured - 1) < 0.2,
               model << ": " << estimate << " of " << measured);
  }
}

BOOST_AUTO_TEST_CASE(self_attention_is_counted) {
  const auto bytes = [](const std::string& asked) {
    const Spec spec = spec_of(kModels[4], {"record.alignments=32", "record." + asked}).spec;
    return part(MemoryMeter(kPlenty).of_run(spec, outline(spec), 1), "evaluation of test");
  };
  constexpr double kept = 32 * 2 * 4 * 128 * 128 * 4.0;  // sentences, layers, heads, positions
  // A batch of 16 is on the tape, too, and a decoder's weights are also among the batch's results.
  for (const std::string option : {"self_attention", "decoder_self_attention"}) {
    const double more = bytes(option + "=true") - bytes(option + "=false");
    BOOST_TEST(more >= 0.99 * kept, option << ": " << more << " of " << kept);
    BOOST_TEST(more < 2.1 * kept, option << ": " << more << " of " << kept);
  }
}

// Backward recomputes these energies only above 204 symbols: estimates must not cross this threshold.
BOOST_AUTO_TEST_CASE(long_sentences_of_a_small_model_are_told_from_long_ones) {
  const Spec spec =
      spec_of(
          "embedding: 16, encoder: {type: gru, units: 16}, attention: {type: global, score: "
          "{type: additive, units: 16}}, decoder: {type: attentional_gru, units: 16}",
          {"train.batch.sentences=10", "task.length.train=[1000,1000]"})
          .spec;
  const auto estimate = [&](const MemoryMeter& meter) {
    return part(MemoryMeter(meter).of_run(spec, outline(spec), 1), "activations");
  };
  const double measured = estimate(MemoryMeter(kPlenty, kPlenty));
  BOOST_TEST(std::abs(estimate(MemoryMeter(kPlenty)) / measured - 1) < 0.1);
}

BOOST_AUTO_TEST_CASE(what_was_measured_before_changes_nothing) {
  const Spec spec = spec_of(kModels[0]).spec;
  const double first = part(MemoryMeter(kPlenty).of_run(spec, outline(spec), 1), "the program");
  const std::vector<char> left(100'000'000, 'x');
  BOOST_TEST(part(MemoryMeter(kPlenty).of_run(spec, outline(spec), 1), "the program") == first);
}

// Groups are computed one after the other; ranks share the optimiser's state.
BOOST_AUTO_TEST_CASE(groups_and_ranks_are_counted) {
  const auto bytes = [](const std::string& groups, int ranks, const char* what) {
    const Spec spec = spec_of(kModels[0], {"train.groups=" + groups}).spec;
    return part(MemoryMeter(kPlenty, kPlenty).of_run(spec, outline(spec), 1, ranks), what);
  };
  const char* const optimizer = "optimiser and averages";
  BOOST_TEST(bytes("4", 4, optimizer) == bytes("null", 1, optimizer) / 4);
  BOOST_TEST(bytes("4", 4, "gradients") < bytes("4", 2, "gradients"));
  BOOST_TEST(bytes("4", 2, "gradients") < bytes("4", 1, "gradients"));
  const double share = bytes("4", 1, "activations") / bytes("null", 1, "activations");
  BOOST_TEST(share > 0.2);
  BOOST_TEST(share < 0.5);
}

BOOST_AUTO_TEST_CASE(a_model_too_large_to_be_tried_is_counted) {
  const Spec spec = spec_of(kModels[0], {"model.encoder.units=20000"}).spec;
  BOOST_TEST(MemoryMeter(1e9).of_run(spec, outline(spec), 1).bytes() > 10e9);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_at_the_option_of_its_largest_part) {
  const auto refusal = [](const std::vector<std::string>& changes, double limit, Index rows = 1) {
    const auto resolved = spec_of(kModels[0], changes);
    SizeCheck check;
    check.machine.limit = limit;
    check.machine.limited_by = "a made limit";
    check.side_by_side = rows;
    return test::refusal([&] { check_run_sizes(resolved, outline(resolved.spec), 2, check); });
  };
  BOOST_TEST(refusal({}, 1e10) == "accepted");
  BOOST_TEST(  // with its position
      refusal({"evaluate.batch=16", "evaluate.search.width=1000", "task.length.test=[4,10000]"},
              1e10)
          .starts_with("override 1 ('evaluate.batch=16'): evaluate.batch: about "));
  BOOST_TEST(contains(refusal({"task.examples.train=10000000"}, 1e10), "task: about "));
  BOOST_TEST(contains(refusal({"model.encoder.units=20000"}, 1e10), "model: about "));
  BOOST_TEST(contains(refusal({"train.average={type: last, epochs: 500}", "train.epochs=500"}, 1e8),
                      "train.average: about "));
  BOOST_TEST(contains(refusal({}, 5e8, 64), "--workers: about "));
}

BOOST_AUTO_TEST_CASE(sizes_that_are_not_known_are_warned_of) {
  const auto resolved = spec_of(kModels[0]);
  SizeCheck check;
  check.machine.limit = 5e7;
  DataOutline bound = outline(resolved.spec);
  bound.test.examples = 0;
  BOOST_TEST(check_run_sizes(resolved, bound, 1, check).starts_with("note: if "));
}

BOOST_AUTO_TEST_CASE(a_check_that_refuses_nothing_says_so) {
  const auto resolved = spec_of(kModels[0]);
  SizeCheck check;
  check.refuse = false;
  check.machine.limit = 1e6;
  const std::string note = check_run_sizes(resolved, outline(resolved.spec), 1, check);
  BOOST_TEST(note.starts_with("note: about "));
}
