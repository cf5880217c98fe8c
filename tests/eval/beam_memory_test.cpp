// A step of a search does not allocate: the number of calls of operator new does not depend on the number of steps.
#include <boost/test/unit_test.hpp>

#include <functional>

#include "framework/data/vocabulary.hpp"
#include "framework/eval/beam.hpp"
#include "framework/eval/sampling.hpp"
#include "tests/allocations.hpp"

using namespace softalign;

namespace {

// A model that never ends a sentence.
std::unique_ptr<Model> endless(const char* attention, const char* decoder) {
  ModelOptions options;
  options.embedding = 8;
  options.attention.type = attention;
  options.decoder.type = decoder;
  auto model = std::make_unique<Model>(options, 50, 50, 1);
  Index found = 0;
  for (const Parameter& parameter : model->parameters().all()) {
    if (parameter.name != "projection.b") continue;
    parameter.value().data[kEnd] = -1000;
    ++found;
  }
  BOOST_REQUIRE(found == 1);
  return model;
}

// Runs a search of `steps` steps over three sentences.
using Run = std::function<std::vector<std::vector<Hypothesis>>(Tape&, const SourceBatch&, Index)>;

void expect_steady(const Run& run) {
  const std::vector<Token> tokens = {5, 3, 7, 4, 2, /**/ 6, 6, 2, 2, 2, /**/ 3, 2, 2, 2, 2};
  const std::vector<Index> lengths = {5, 3, 2};
  Tape tape(Tape::Mode::infer);
  const auto calls = [&](Index steps) {
    const long before = calls_of_new;
    for (const auto& list : run(tape, {tokens, 3, 5, lengths, {}, {}}, steps))
      for (const Hypothesis& hypothesis : list)
        BOOST_TEST_REQUIRE(std::ssize(hypothesis.tokens) == steps);
    return calls_of_new - before;
  };
  calls(300);  // the tape allocates its memory
  const long some = calls(100), more = calls(300);
  BOOST_TEST(some > 0);  // the hypotheses themselves
  BOOST_TEST(more == some);
}

Run beam_of(const Scorer& scorer, Index width) {
  return [&scorer, width](Tape& tape, const SourceBatch& source, Index steps) {
    return beam_search(scorer, tape, source, BeamSettings{width, 1, {1e-9, steps}});
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(beam_memory, *boost::unit_test::precondition([](auto) {
                        return allocations_are_counted();
                      }))

BOOST_AUTO_TEST_CASE(a_steady_step_allocates_nothing) {
  for (const char* attention : {"global", "none"}) {
    const auto model = endless(attention, "attentional_gru");
    const Scorer scorer(*model);
    for (Index width : {1, 5}) expect_steady(beam_of(scorer, width));
  }
}

BOOST_AUTO_TEST_CASE(nor_does_one_with_demands) {
  const auto model = endless("global", "attentional_gru");
  const Scorer scorer(*model);
  const std::vector<std::vector<Token>> prefixes = {{5, 6, 7}, {}, {8}};
  const std::vector<std::vector<Demands::Phrase>> phrases = {{{4, 5}, {9}}, {{7, 7, 8}}, {}};
  expect_steady([&](Tape& tape, const SourceBatch& source, Index steps) {
    return beam_search(
        scorer, tape, source, BeamSettings{5, 1, {1e-9, steps}}, {true, prefixes, phrases});
  });
}

BOOST_AUTO_TEST_CASE(nor_does_one_whose_state_grows) {
  const auto model = endless("built_in", "history");  // defined in beam_test.cpp
  const Scorer scorer(*model);
  expect_steady(beam_of(scorer, 5));
}

BOOST_AUTO_TEST_CASE(nor_does_one_of_an_ensemble) {
  const auto a = endless("global", "attentional_gru"), b = endless("none", "attentional_gru");
  const Scorer scorer({a.get(), b.get(), a.get()});
  expect_steady(beam_of(scorer, 5));
}

BOOST_AUTO_TEST_CASE(nor_does_one_of_sampling) {
  const auto model = endless("global", "attentional_gru");
  const Scorer scorer(*model);
  SampleSettings settings;
  settings.samples = 5;
  for (const bool cut : {false, true}) {
    if (cut) settings.top_p = 0.8;
    expect_steady([&](Tape& tape, const SourceBatch& source, Index steps) {
      settings.limits.max_ratio = 1e-9;
      settings.limits.max_extra = steps;
      return sample(scorer, tape, source, settings);
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
