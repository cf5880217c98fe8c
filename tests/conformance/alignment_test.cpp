// Scores and attentions against their formulas in NumPy (tests/reference/alignment.py), and their edge cases: one
// position, windows longer than the sentence, and controls that do what they claim.
#include <algorithm>

#include "built.hpp"
#include "framework/autodiff/gradient_check.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

BOOST_AUTO_TEST_SUITE(alignment)

BOOST_AUTO_TEST_CASE(scores_are_their_formulas) {
  for (const Case& expected : cases_of("scores")) {
    BOOST_TEST_CONTEXT(expected.option) {
      const BuiltScore built(expected.option, {expected.query, kAnnotation});
      Tape tape(Tape::Mode::infer);
      Memory memory =
          built.plugin->prepare(tape.constant(filled(tape, {2, kPositions, kAnnotation}, 1)));
      memory.lengths = kLengths;
      View attended = filled(tape, {2, kPositions}, 3);
      for (real& x : attended) x = std::abs(x);
      const View energies =
          built.plugin
              ->score(
                  memory,
                  {tape.constant(filled(tape, {2, expected.query}, 2)), 0, tape.constant(attended)})
              .value();
      std::vector<double> numbers(energies.begin(), energies.end());
      // Energies of padding are undefined.
      std::fill(numbers.begin() + kPositions + kLengths[1], numbers.end(), 0);
      equal(numbers, expected.numbers);
    }
  }
}

// The number of parameters of each registered score by its formula, at Q = 3, D = 4, U = 5.
BOOST_AUTO_TEST_CASE(scores_have_the_parameters_of_their_formulas) {
  struct Expected {
    const char* option;
    Index query, count;
  };
  const Expected all[] = {
      {"{type: additive, units: 5}", 3, (3 + 4) * 5 + 5 + 5},             // W, U, b, v
      {"{type: additive_concat, units: 5}", 3, (3 + 4) * 5 + 5 + 5},      // W, b, v
      {"{type: concat, units: 5}", 3, (3 + 4) * 5 + 5},                   // W, v
      {"{type: concat, identity: true}", 3, 3 * 4 + 4},                   // W, v
      {"{type: coverage, units: 5}", 3, (3 + 4) * 5 + 5 + 5 + 5},         // W, U, b, w, v
      {"{type: normed_additive, units: 5}", 3, (3 + 4) * 5 + 5 + 5 + 1},  // W, U, b, v, g
      {"dot", 4, 0},
      {"scaled_dot", 4, 0},
      {"cosine", 4, 1},  // β
      {"{type: cosine, learned: false}", 4, 0},
      {"general", 3, 3 * 4},                                  // W
      {"{type: location, positions: 6}", 3, 3 * 6},           // W
      {"{type: stacked, units: 5}", 3, (3 + 4) * 5 + 2 * 5},  // W, U, v
  };
  std::set<std::string> tried;
  for (const Expected& expected : all) {
    const BuiltScore built(expected.option, {expected.query, kAnnotation});
    BOOST_TEST(built.store.count() == expected.count, expected.option);
    tried.insert(choice_of("score", expected.option).type);
  }
  for (const PluginEntry* entry : Registry::instance().entries("score"))
    BOOST_TEST((tried.contains(entry->name) || entry->name.ends_with("_for_test")), entry->name);
}

BOOST_AUTO_TEST_CASE(products_of_state_and_annotation_refuse_other_sizes) {
  const std::string expected =
      "model.attention.score: s · h needs a state as wide as the annotations, but the state has 3 "
      "units and the "
      "annotations have 4; make the decoder 4 units wide, or the annotations 3 (a recurrent "
      "encoder "
      "with `project: 3`, or with `direction: forward` and `units: 3`), or use score general, s · "
      "W "
      "h";
  for (const std::string& name : kOneSize)
    BOOST_TEST(test::message_of<SpecError>([&] {
                 BuiltScore built(name, {3, 4});
               }) == ":1:10: " + expected);
}

// A score may compute energies outside the window; inside it they have the same bits.
BOOST_AUTO_TEST_CASE(a_window_changes_no_energy_in_it) {
  const std::vector<Index> begins = {1, 0}, ends = {3, 1};
  for (const PluginEntry* entry : Registry::instance().entries("score")) {
    const Index width = kOneSize.contains(entry->name) ? kAnnotation : kQuery;
    const BuiltScore built(entry->name, {width, kAnnotation});
    Tape tape(Tape::Mode::infer);
    const Memory memory =
        built.plugin->prepare(tape.constant(filled(tape, {2, kPositions, kAnnotation}, 1)));
    const Query query{tape.constant(filled(tape, {2, width}, 2)),
                      0,
                      tape.constant(filled(tape, {2, kPositions}, 3))};
    const View all = built.plugin->score({memory.keys, {}, kLengths}, query).value();
    const View some = built.plugin->score({memory.keys, {}, ends, begins}, query).value();
    for (Index b = 0; b < 2; ++b)
      for (Index s = begins[usize(b)]; s < ends[usize(b)]; ++s)
        BOOST_TEST(all.data[b * kPositions + s] == some.data[b * kPositions + s], entry->name);
  }
}

BOOST_AUTO_TEST_CASE(attentions_are_their_formulas) {
  for (const char* kind : {"attentions", "hops"})
    for (const Case& expected : cases_of(kind)) {
      BOOST_TEST_CONTEXT(expected.option) {
        const BuiltAttention built(expected.option, {kQuery, kAnnotation});
        std::vector<double> numbers;
        for (const Step& step : steps_of(*built.plugin))
          for (Index b = 0; b < 2; ++b) {
            const auto size = built.plugin->context_size();
            const auto w = step.weights.begin() + b * kPositions;
            const auto c = step.context.begin() + b * size;
            numbers.insert(numbers.end(), w, w + kPositions);
            numbers.insert(numbers.end(), c, c + size);
          }
        equal(numbers, expected.numbers);
      }
    }
}

// The random inputs of the conformance suite do not reach all branches of windows and of pointers to a deterministic
// position. Here windows are shorter than a sentence, and pointers are soft.
BOOST_AUTO_TEST_CASE(gradients_where_defaults_do_not_reach) {
  for (const char* option :
       {"{type: local_m, window: 1, score: general}",
        "{type: local_p, window: 1, score: general}",
        "{type: local_p, window: 1, centre: code, score: general}",
        "{type: monotonic, score: general, test: soft}",
        "{type: monotonic, score: {type: coverage, units: 3}, test: soft}",
        "{type: mocha, score: general, chunk: 3, test: soft}",
        "{type: mocha, score: {type: coverage, units: 3}, test: soft}",
        "{type: entmax, score: general}",
        "{type: entmax, alpha: 1.3, score: general}",
        "{type: entmax, alpha: 1.1, learned: true, score: general}",
        "{type: memory_hops, hops: 1}",
        "{type: memory_hops, hops: 3, units: 2}",
        "{type: memory_hops, hops: 3, tying: adjacent}",
        "{type: memory_hops, hops: 3, tying: none}",
        "{type: global, score: {type: stacked, units: 3}}",
        "{type: global, score: {type: coverage, units: 3}}",
        "{type: global, score: {type: location, positions: 3}}",
        "{type: global, score: {type: concat, identity: true}}",
        "{type: location_aware, units: 3, filters: 2, width: 3}",
        "{type: location_aware, units: 3, filters: 2, width: 3, sharpening: 2}",
        "{type: location_aware, units: 3, filters: 2, width: 3, smoothing: true, energy_bias: "
        "true}",
        "{type: location_aware, units: 3, filters: 2, width: 3, window: 2}",
        "{type: gaussian_mixture, components: 2}",
        "{type: gaussian_mixture, components: 2, normalised: true}",
        "{type: sparsemax, score: {type: cosine, learned: false}}",
        "{type: hard, score: general, test: expectation, temperature: 2}"}) {
    const Index width =
        std::string_view(option).find("cosine") != std::string_view::npos ? kAnnotation : kQuery;
    BuiltAttention built(option, {width, kAnnotation});
    std::vector<real> states(2 * kPositions * kAnnotation), query(usize(2 * width));
    const View inputs[] = {{states.data(), {2, kPositions, kAnnotation}},
                           {query.data(), {2, width}}};
    fill(inputs[0], 1);
    fill(inputs[1], 2);
    const GradientCheck result = check_gradients(
        [&](Tape&, const std::vector<Var>& x) {
          Annotations annotations;
          annotations.states = x[0];
          annotations.lengths = kLengths;
          const AttentionMemory memory = built.plugin->prepare(annotations);
          State past = built.plugin->start(memory);
          std::vector<Var> outputs;
          for (Index t = 0; t < kSteps; ++t) {
            const Glimpse glimpse = built.plugin->attend(memory, {{x[1], t, {}}, past});
            past = glimpse.next;
            outputs.push_back(glimpse.context);
          }
          return outputs;
        },
        {inputs[0], inputs[1]},
        &built.store,
        1000);
    BOOST_TEST_CONTEXT(option << " " << result.where) BOOST_TEST(result.worst < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(one_position_has_all_the_weight) {
  for (const PluginEntry* entry : Registry::instance().entries("attention")) {
    static const std::set<std::string> kOthers = {// without weights, links or a context as it is
                                                  "none",
                                                  "built_in",
                                                  "true_alignment",
                                                  "memory_hops",
                                                  "multi_head"};
    if (kOthers.contains(entry->name)) continue;
    const BuiltAttention built(entry->name, {kQuery, kAnnotation});
    for (const Step& step : steps_of(*built.plugin, 1, {1})) BOOST_TEST_CONTEXT(entry->name) {
        if (built.plugin->weights_sum_to_one()) BOOST_TEST(step.weights[0] == 1);
        if (entry->name != "gaussian_mixture") BOOST_TEST(step.weights[0] <= 1);
        for (std::size_t d = 0; d < step.context.size(); ++d)  // phase 1: sin(1.7 d + 1)
          BOOST_TEST(std::abs(step.context[d] -
                              step.weights[0] * 0.9 * std::sin(1.7 * static_cast<double>(d) + 1)) <
                     1e-12);
      }
  }
}

// Sentences of 150 positions: the first of 7 steps at 0 and the last at the end are within the window.
BOOST_AUTO_TEST_CASE(windows_stay_inside_the_sentence) {
  const std::vector<Index> lengths = {150, 3};
  const BuiltAttention moving("{type: local_m, window: 2, score: general}", {kQuery, kAnnotation});
  const auto steps = steps_of(*moving.plugin, 150, lengths, 7);
  for (Index t = 0; t < 7; ++t) {
    const auto& w = steps[usize(t)].weights;
    for (Index s = 0; s < 150; ++s) BOOST_TEST((w[usize(s)] > 0) == (std::abs(s - t) <= 2));
    for (Index s = 0; s < 3; ++s)  // the centre stays at the last position
      BOOST_TEST((w[usize(150 + s)] > 0) == (std::abs(s - std::min<Index>(t, 2)) <= 2));
  }
  const BuiltAttention global("{type: global, score: general}", {kQuery, kAnnotation});
  const BuiltAttention wide("{type: local_m, window: 1000, score: general}", {kQuery, kAnnotation});
  for (std::size_t t = 0; t < 7; ++t)  // a window longer than the sentence has no effect
    equal(steps_of(*wide.plugin, 150, lengths, 7)[t].weights,
          steps_of(*global.plugin, 150, lengths, 7)[t].weights);
}

// The window is centred at the median of the previous weights, which may be the last position of the sentence.
BOOST_AUTO_TEST_CASE(a_window_follows_the_median) {
  const BuiltAttention built("{type: location_aware, units: 5, filters: 2, width: 3, window: 2}",
                             {kQuery, kAnnotation});
  const std::vector<Index> lengths = {30, 2};
  const auto steps = steps_of(*built.plugin, 30, lengths, 20);
  std::vector<Index> median(2, 0);
  for (const Step& step : steps)
    for (std::size_t b = 0; b < 2; ++b) {
      const double* w = step.weights.data() + 30 * b;
      for (Index s = 0; s < 30; ++s)
        BOOST_TEST((w[s] > 0) == (s >= median[b] - 2 && s < std::min(lengths[b], median[b] + 2)));
      double sum = w[0];
      for (median[b] = 0; sum < 0.5; sum += w[median[b]]) ++median[b];
    }
}

// With `narrowed: test`, weights are not sharpened in training (when the tape has noise).
BOOST_AUTO_TEST_CASE(sharpening_may_wait_for_the_test) {
  const auto weights = [](const std::string& options, bool training) {
    const BuiltAttention built(
        "{type: location_aware, units: 5, filters: 2, width: 3" + options + "}",
        {kQuery, kAnnotation});
    Tape tape(Tape::Mode::infer);
    const std::vector<Index> examples = {0, 1};
    const Noise noise{5, 1, examples};
    if (training) tape.set_noise(&noise);
    Annotations annotations;
    annotations.states = tape.constant(filled(tape, {2, kPositions, kAnnotation}, 1));
    annotations.lengths = kLengths;
    const AttentionMemory memory = built.plugin->prepare(annotations);
    Var query = tape.constant(filled(tape, {2, kQuery}, 2));
    const View w =
        built.plugin->attend(memory, {{query, 0, {}}, built.plugin->start(memory)}).weights.value();
    return std::vector<double>(w.begin(), w.end());
  };
  const std::string sharp = ", sharpening: 2, window: 1", later = sharp + ", narrowed: test";
  BOOST_TEST((weights(later, true) == weights("", true)));
  BOOST_TEST((weights(later, false) == weights(sharp, false)));
  BOOST_TEST((weights(sharp, true) == weights(sharp, false)));
}

BOOST_AUTO_TEST_CASE(shuffled_weights_are_the_same_weights_elsewhere) {
  const std::vector<Index> lengths = {12, 12, 5};
  const BuiltAttention global("{type: global, score: general}", {kQuery, kAnnotation});
  const BuiltAttention shuffled("{type: shuffled, score: general}", {kQuery, kAnnotation});
  const BuiltAttention other("{type: shuffled, seed: 1, score: general}", {kQuery, kAnnotation});
  auto plain = steps_of(*global.plugin, 12, lengths),
       moved = steps_of(*shuffled.plugin, 12, lengths);
  BOOST_TEST((moved[0].weights != steps_of(*other.plugin, 12, lengths)[0].weights));
  std::vector<std::vector<std::size_t>> places;
  for (std::size_t t = 0; t < plain.size(); ++t)
    for (std::size_t b = 0; b < 3; ++b) {
      const auto from = plain[t].weights.begin() + static_cast<std::ptrdiff_t>(12 * b);
      const auto to = moved[t].weights.begin() + static_cast<std::ptrdiff_t>(12 * b);
      std::vector<std::size_t> place;
      for (Index s = 0; s < lengths[b]; ++s)
        place.push_back(usize(std::find(from, from + 12, to[s]) - from));
      places.push_back(place);
      std::sort(place.begin(), place.end());
      for (std::size_t s = 0; s < place.size(); ++s) BOOST_TEST(place[s] == s);  // a permutation
    }
  BOOST_TEST((places[0] == places[1]));  // a function of length and step only
  BOOST_TEST((places[0] != places[3]));
}

BOOST_AUTO_TEST_CASE(a_pointer_never_moves_left) {
  const BuiltAttention hard("{type: monotonic, score: general}", {kQuery, kAnnotation});
  std::vector<std::ptrdiff_t> at(2, 0);
  for (const Step& step : steps_of(*hard.plugin, 30, {30, 17}, 20))
    for (std::size_t b = 0; b < 2; ++b) {
      const auto row = step.weights.begin() + static_cast<std::ptrdiff_t>(30 * b);
      const auto one = std::find(row, row + 30, 1.0) - row;
      BOOST_TEST(std::count(row, row + 30, 0.0) + (one < 30) == 30);
      BOOST_TEST(one >= at[b]);
      at[b] = one;
    }
}

BOOST_AUTO_TEST_CASE(true_alignment_refuses_to_guess) {
  const BuiltAttention built("true_alignment", {kQuery, kAnnotation});
  Tape tape(Tape::Mode::infer);
  Annotations annotations;
  annotations.states = tape.constant(filled(tape, {2, kPositions, kAnnotation}, 1));
  annotations.lengths = kLengths;
  const AttentionMemory memory = built.plugin->prepare(annotations);
  BOOST_CHECK_THROW(built.plugin->attend(memory, {}), DataError);
}

// Random draws in training depend on the example and the update, not on the position of the example in the batch.
BOOST_AUTO_TEST_CASE(noise_belongs_to_the_example) {
  constexpr Index kLong = 12;
  for (const char* option : {"{type: monotonic, score: general}",
                             "{type: mocha, score: general}",
                             "{type: shuffled, score: general}"}) {
    const BuiltAttention built(option, {kQuery, kAnnotation});
    const auto weights = [&](std::vector<Index> rows, std::uint64_t update) {
      Tape tape(Tape::Mode::infer);
      const Noise noise{5, update, rows};
      tape.set_noise(&noise);
      const std::vector<Index> lengths(2, kLong);
      View states = filled(tape, {2, kLong, kAnnotation}, 1), query = filled(tape, {2, kQuery}, 2);
      std::copy_n(states.data, kLong * kAnnotation, states.data + kLong * kAnnotation);
      std::copy_n(query.data, kQuery, query.data + kQuery);
      Annotations annotations;
      annotations.states = tape.constant(states);
      annotations.lengths = lengths;
      const AttentionMemory memory = built.plugin->prepare(annotations);
      const State start = built.plugin->start(memory);
      const View w =
          built.plugin->attend(memory, {{tape.constant(query), 0, {}}, start}).weights.value();
      return std::pair(std::vector<double>(w.begin(), w.begin() + kLong),
                       std::vector<double>(w.begin() + kLong, w.end()));
    };
    const auto both = weights({7, 9}, 1), turned = weights({9, 7}, 1);
    BOOST_TEST_CONTEXT(option) {
      BOOST_TEST((both.first == turned.second));
      BOOST_TEST((both.first != both.second));
      BOOST_TEST((both.first != weights({7, 9}, 2).first));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
