// The batched beam search against a slow one that follows the definition word by word: one sentence,
// every continuation of every hypothesis, sorted.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/beam.hpp"
#include "framework/kernels/cross_entropy.hpp"
#include "tests/eval/same_hypotheses.hpp"

using namespace softalign;

namespace {

// A decoder whose state contains all its inputs, [B,t,E], like a cache of keys: step t reads the sum of
// the inputs i, each divided by i + 1.
class History final : public Decoder {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  History(const Parameters&, const DecoderSizes& sizes, const Options&) : size_(sizes.embedding) {}

  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{annotations.states, {}, annotations.lengths};
  }
  State start(const Annotations& annotations, const AttentionMemory&) const override {
    Tape& tape = annotations.states.tape();
    return {tape.constant(tape.zeros({annotations.states.shape()[0], 0, size_}))};
  }
  Var inputs(Var embedded) const override { return embedded; }
  DecoderStep step(const AttentionMemory&, const State& state, Var input) const override {
    Tape& tape = input.tape();
    const Index rows = input.shape()[0], before = state[0].shape()[1], now = before + 1;
    const View longer = tape.allocate({rows, now, size_}), output = tape.zeros({rows, size_});
    for (Index b = 0; b < rows; ++b) {
      real* row = longer.data + b * now * size_;
      std::copy_n(state[0].value().data + b * before * size_, before * size_, row);
      std::copy_n(input.value().data + b * size_, size_, row + before * size_);
      for (Index i = 0; i < now * size_; ++i)
        output.data[b * size_ + i % size_] += row[i] / static_cast<real>(i / size_ + 1);
    }
    return {{tape.constant(longer)}, {tape.constant(output)}, {}};
  }
  Var readout(Var outputs, Var) const override { return outputs; }
  Index readout_size() const override { return size_; }
  bool aligns() const override { return false; }

 private:
  Index size_;
};
SOFTALIGN_DECODER("history", History, "for this test");

// A small random model and sentences for it.
struct Experiment {
  Index symbols;
  std::unique_ptr<Model> model;
  std::vector<Index> lengths;
  std::vector<Token> tokens;
  Index positions;
  BeamSettings settings;

  std::vector<std::vector<Link>> links;
  std::vector<Token>
      copies;  // for a layer that copies: the target vocabulary lacks every second word
  std::vector<std::string_view> words;

  explicit Experiment(std::uint64_t seed,
                      const std::string& attention = "",
                      std::string_view decoder = "attentional_gru",
                      std::string_view output = "softmax") {
    const RandomStream random(seed, "a small model");
    symbols = 4 + random.below(140, 0);
    const char* attentions[] = {"none", "{type: global, score: general}", "global", "global"};
    const Index units = 4 + random.below(12, 20);
    // For s · h, the state is as wide as an annotation.
    const bool product =
        attention.find("dot") != attention.npos || attention.find("cosine") != attention.npos;
    const auto options =
        parse_spec<ModelOptions>(
            fmt::format("embedding: {}\nencoder: {{type: gru, units: {}}}\n"
                        "attention: {}\ndecoder: {}\noutput: {}",
                        1 + random.below(12, 1),
                        units,
                        decoder == "history" ? "built_in"
                        : attention.empty()  ? attentions[random.below(4, 2)]
                                             : attention,
                        decoder == "history"
                            ? "history"
                            : fmt::format("{{type: {}, units: {}}}",
                                          decoder,
                                          product ? 2 * units : 4 + random.below(12, 21)),
                        output),
            "a small model")
            .spec;
    model = std::make_unique<Model>(options, symbols, symbols, seed);
    const real scale = static_cast<real>(random.below(4, 3));  // 0: all symbols equally probable
    real* values = model->parameters().values();
    for (Index i = 0; i < model->parameters().flat_size(); ++i) values[i] *= scale;
    settings.width = 1 + random.below(6, 4);
    settings.length_normalization = 0.5 * random.below(3, 5);
    settings.limits.max_ratio = 0.5;
    settings.limits.max_extra = 1 + random.below(8, 6);
    for (Index b = 0; b <= random.below(4, 7); ++b)
      lengths.push_back(1 + random.below(7, static_cast<std::uint64_t>(8 + b)));
    std::sort(lengths.rbegin(), lengths.rend());
    positions = lengths.front();
    for (Index length : lengths) links.push_back({{length - 1, 0}, {0, 1}, {length / 2, 1}});
    for (Index length : lengths)
      for (Index s = 0; s < positions; ++s)
        tokens.push_back(s + 1 < length
                             ? 3 + static_cast<Token>(random.below(
                                       static_cast<std::uint32_t>(symbols - 3), tokens.size(), 1))
                             : kEnd);
    if (!model->output_layer().copies()) return;
    copies = tokens;
    words.resize(tokens.size());
    for (std::size_t row = 0; row < tokens.size(); row += usize(positions))
      for (std::size_t s = 0; s < usize(positions); ++s) {
        if (tokens[row + s] % 2 == 0) continue;
        std::size_t first = 0;
        while (tokens[row + first] != tokens[row + s]) ++first;
        copies[row + s] = static_cast<Token>(usize(symbols) + first);
        words[row + first] = std::string_view("abcdefg").substr(first, 1);
      }
  }
  std::span<const Token> sentence(std::size_t b) const {
    return std::span(tokens).subspan(b * usize(positions), usize(lengths[b]));
  }
  std::vector<std::vector<Hypothesis>> together(Tape& tape) const {
    return beam_search(
        *model,
        tape,
        {tokens, std::ssize(lengths), positions, lengths, links, {}, {}, copies, words},
        settings);
  }
  SourceBatch one(std::size_t b) const {
    SourceBatch source{sentence(b),
                       1,
                       lengths[b],
                       std::span(lengths).subspan(b, 1),
                       std::span(links).subspan(b, 1)};
    if (copies.empty()) return source;
    source.copies = std::span(copies).subspan(b * usize(positions), usize(lengths[b]));
    source.words = std::span(words).subspan(b * usize(positions), usize(lengths[b]));
    return source;
  }
  std::vector<Hypothesis> alone(Tape& tape, std::size_t b) const {
    return beam_search(*model, tape, one(b), settings)[0];
  }
};

struct Open {
  std::vector<Token> tokens;
  double log_probability = 0;
  std::vector<double> log_probabilities = {};
  std::vector<float> alignment = {};
};

// Returns log p of each symbol after a hypothesis, read again from its first symbol; extends its alignment.
std::vector<double> continuations(const Experiment& experiment, std::size_t b, Open& open) {
  Tape tape(Tape::Mode::infer);
  SourceBatch sentence = experiment.one(b);
  sentence.links = {};
  Model::Source source = experiment.model->read(tape, sentence);
  std::vector<Token> previous = {kBegin};
  Model::Prediction prediction;
  for (std::size_t i = 0; i <= open.tokens.size(); ++i) {
    if (i > 0) previous = {in_vocabulary(open.tokens[i - 1], experiment.symbols)};
    prediction = experiment.model->predict(tape, source, previous);
    source.state = prediction.next;
  }
  if (prediction.weights) {
    const View weights = prediction.weights.value();
    open.alignment.insert(open.alignment.end(), weights.begin(), weights.end());
  }
  const View logits = prediction.logits.value();
  real log_sum = 0;
  kernels::log_sum_exp(1, logits.size(), logits.data, &log_sum);
  std::vector<double> p;
  for (real x : logits) p.push_back(static_cast<double>(x - log_sum));
  return p;
}

// The score of Wu et al. 2016, equation 14, and the averages of length normalisation.
double plain_score(const Experiment& experiment, std::size_t b, const Open& one, std::size_t step) {
  const BeamSettings& settings = experiment.settings;
  const auto length = static_cast<double>(step);
  const double a = settings.length_normalization;
  const double penalty = settings.length_penalty == LengthPenalty::gnmt
                             ? std::pow(5 + length, a) / std::pow(6, a)
                             : std::pow(length, a);
  if (settings.coverage_penalty == 0) return one.log_probability / penalty;
  double covered = 0;
  const auto positions = usize(experiment.lengths[b]);
  for (std::size_t i = 0; i < positions; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < step; ++j)
      sum += static_cast<double>(one.alignment[j * positions + i]);
    covered += std::log(std::min(sum, 1.0));
  }
  return one.log_probability / penalty + settings.coverage_penalty * covered;
}

std::vector<Hypothesis> plain_beam(const Experiment& experiment, std::size_t b) {
  const BeamSettings& settings = experiment.settings;
  const auto limit = usize(
      static_cast<Index>(settings.limits.max_ratio * static_cast<double>(experiment.lengths[b])) +
      settings.limits.max_extra);
  const auto least = static_cast<std::size_t>(settings.limits.min_ratio.value_or(0) *
                                              static_cast<double>(experiment.lengths[b]));
  std::vector<Hypothesis> finished;
  std::vector<Open> open = {{}};
  for (std::size_t step = 1; !open.empty(); ++step) {
    std::vector<Open> longer;
    for (Open& one : open) {
      const auto p = continuations(experiment, b, one);
      for (Token v = 0; v < static_cast<Token>(p.size()); ++v) {
        if (v == kBegin || (v == kEnd && step <= least) || std::isinf(p[usize(v)])) continue;
        longer.push_back(one);
        longer.back().tokens.push_back(v);
        longer.back().log_probability += p[usize(v)];
        longer.back().log_probabilities.push_back(p[usize(v)]);
      }
    }
    std::stable_sort(longer.begin(), longer.end(), [](const Open& x, const Open& y) {
      return x.log_probability > y.log_probability;
    });
    longer.resize(std::min(longer.size(), usize(settings.width) - finished.size()));
    open.clear();
    for (Open& one : longer) {
      const bool ended = one.tokens.back() == kEnd;
      if (!ended && step < limit) {
        open.push_back(one);
        continue;
      }
      const double score = plain_score(experiment, b, one, step);
      if (ended) one.tokens.pop_back();
      std::vector<ReplacedWord> copied;
      for (std::size_t i = 0; i < one.tokens.size(); ++i)
        if (const Index s = one.tokens[i] - experiment.symbols; s >= 0) {
          copied.push_back(
              {static_cast<Index>(i), s, std::string(experiment.one(b).words[usize(s)])});
          one.tokens[i] = kUnknown;
        }
      finished.push_back({one.tokens,
                          one.log_probability,
                          score,
                          ended,
                          one.log_probabilities,
                          one.alignment,
                          0,
                          copied});
    }
  }
  std::stable_sort(finished.begin(), finished.end(), [](const Hypothesis& x, const Hypothesis& y) {
    return x.finished != y.finished ? x.finished : x.score > y.score;
  });
  return finished;
}

void alone_as_together(const Experiment& experiment) {
  Tape tape(Tape::Mode::infer);
  const auto together = experiment.together(tape);
  for (std::size_t b = 0; b < together.size(); ++b)
    expect_same(experiment.alone(tape, b), together[b]);
}

void expect_definition(const Experiment& experiment) {
  Tape tape(Tape::Mode::infer);
  const auto found = experiment.together(tape);
  BOOST_REQUIRE(found.size() == experiment.lengths.size());
  for (std::size_t b = 0; b < found.size(); ++b) {
    const auto expected = plain_beam(experiment, b);
    BOOST_REQUIRE(found[b].size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const Hypothesis &x = found[b][k], &y = expected[k];
      BOOST_TEST(x.tokens == y.tokens, boost::test_tools::per_element());
      BOOST_TEST(x.finished == y.finished);
      BOOST_TEST((x.replaced == y.replaced));
      BOOST_TEST(x.log_probability == y.log_probability);
      BOOST_TEST(x.score == y.score, boost::test_tools::tolerance(1e-12));
      BOOST_REQUIRE(x.log_probabilities.size() == y.log_probabilities.size());
      for (std::size_t i = 0; i < x.log_probabilities.size(); ++i)
        BOOST_TEST(std::abs(x.log_probabilities[i] - y.log_probabilities[i]) < 1e-12);
      BOOST_REQUIRE(x.alignment.size() == y.alignment.size());
      for (std::size_t i = 0; i < x.alignment.size(); ++i)
        BOOST_TEST(x.alignment[i] == y.alignment[i]);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(beam)

BOOST_AUTO_TEST_CASE(finds_what_the_definition_finds) {
  for (std::uint64_t seed = 0; seed < 400; ++seed)
    BOOST_TEST_CONTEXT("seed " << seed) expect_definition(Experiment(seed));
}

BOOST_AUTO_TEST_CASE(penalties_and_least_lengths_are_those_of_the_definition) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      Experiment experiment(seed);
      if (seed % 2 == 0) experiment.settings.length_penalty = LengthPenalty::gnmt;
      if (seed % 3 == 0) experiment.settings.limits.min_ratio = 0.5;
      if (experiment.model->aligns()) experiment.settings.coverage_penalty = 0.3;
      expect_definition(experiment);
    }
}

// Numbers computed by hand from equation 14 of Wu et al. 2016.
BOOST_AUTO_TEST_CASE(coverage_of_two_steps_over_three_positions) {
  const std::vector<float> weights = {0.5f, 0.5f, 0, /**/ 0.75f, 0.125f, 0.125f};
  BOOST_TEST(coverage(weights, 3) == std::log(0.625) + std::log(0.125),
             boost::test_tools::tolerance(1e-12));  // the first position has more than 1
  BOOST_TEST(coverage(std::span(weights).first(3), 3) == 2 * std::log(0.5) + std::log(1e-9),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(coverage_needs_an_attention) {
  ModelOptions options;
  options.embedding = 8;
  options.attention.type = "none";
  const Model model(options, 9, 9, 1);
  const std::vector<Token> tokens = {5, 2};
  const std::vector<Index> lengths = {2};
  BeamSettings settings;
  settings.coverage_penalty = 1;
  Tape tape(Tape::Mode::infer);
  BOOST_CHECK_THROW(beam_search(model, tape, {tokens, 1, 2, lengths}, settings), SpecError);
}

BOOST_AUTO_TEST_CASE(a_state_may_grow_from_step_to_step) {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    BOOST_TEST_CONTEXT("seed " << seed) expect_definition(Experiment(seed, "", "history"));
}

BOOST_AUTO_TEST_CASE(a_sentence_alone_and_in_a_batch_give_the_same_bits) {
  for (std::uint64_t seed = 400; seed < 600; ++seed) alone_as_together(Experiment(seed));
}

BOOST_AUTO_TEST_CASE(every_attention_and_score_gives_the_same_bits_in_any_batch) {
  const auto each = [](const std::string& attention) {
    BOOST_TEST_CONTEXT(attention)
    for (std::uint64_t seed = 600; seed < 612; ++seed)
      alone_as_together(Experiment(seed, attention));
  };
  for (const PluginEntry* attention : Registry::instance().entries("attention"))
    if (attention->name == "multi_head")
      each("{type: multi_head, units: 8}");
    else if (attention->name != "built_in")
      each(attention->name);
  for (const PluginEntry* score : Registry::instance().entries("score"))
    each(fmt::format("{{type: global, score: {}}}", score->name));
  each("{type: global, score: {type: location, positions: 3}}");
  each("{type: local_m, window: 1, score: coverage}");
  each("{type: local_p, window: 1, score: general}");
  each("{type: monotonic, test: soft, score: coverage}");
}

BOOST_AUTO_TEST_CASE(every_output_layer_reads_its_own_sentence) {
  for (const PluginEntry* layer : Registry::instance().entries("output_layer"))
    for (std::uint64_t seed = 700; seed < 740; ++seed)
      BOOST_TEST_CONTEXT(layer->name << ", seed " << seed) {
        const Experiment experiment(seed, "global", "attentional_gru", layer->name);
        alone_as_together(experiment);
        expect_definition(experiment);
      }
}

// With a diverged model the search still ends, with hypotheses for every sentence.
BOOST_AUTO_TEST_CASE(not_a_number_still_gives_hypotheses) {
  for (const PluginEntry* attention : Registry::instance().entries("attention")) {
    if (attention->name == "built_in") continue;
    const Experiment experiment(
        7, attention->name == "multi_head" ? "{type: multi_head, units: 8}" : attention->name);
    ParameterStore& store = experiment.model->parameters();
    std::fill_n(store.values(), store.flat_size(), std::nanf(""));
    Tape tape(Tape::Mode::infer);
    for (const auto& list : experiment.together(tape)) BOOST_TEST(!list.empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
