// Searches and forced decoding of models that copy words which the target vocabulary lacks (Copies): against probabilities
// read one prefix at a time. tests/eval/beam_test.cpp compares the beam with its definition.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "framework/config/spec.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/text.hpp"
#include "framework/eval/search.hpp"
#include "framework/eval/unknown_words.hpp"
#include "tests/eval/search_of.hpp"

using namespace softalign;

namespace {

using Tokens = std::vector<Token>;

const auto kWords =
    std::make_shared<WordVocabulary>("words", std::vector<std::string>{"a", "b", "c"});
constexpr Index kV = kSpecials + 3;
const std::string kLines[] = {"a Zoe b Al Zoe", "Bo c c"};

std::unique_ptr<Model> model_of(const std::string& output, std::uint64_t seed) {
  const auto options =
      parse_spec<ModelOptions>(
          "{embedding: 4, encoder: {type: gru, units: 5}, output: " + output + "}", "a small model")
          .spec;
  auto model = std::make_unique<Model>(options, SourceFormat(*kWords, kWords), kV, seed);
  for (Index i = 0; i < model->parameters().flat_size(); ++i)
    model->parameters().values()[i] *= 2.5f;
  return model;
}

struct Sentences {
  Split split;
  Batch batch;
  explicit Sentences(const Scorer& scorer) {
    for (const std::string& line : kLines) {
      const Tokens tokens = kWords->encode(line);
      split.examples.append({.source = tokens, .source_text = line});
    }
    batch = make_batch(split, std::vector<Index>{0, 1}, scorer.batch_parts());
  }
};

// Returns p of each symbol after a prefix, for one sentence: [V], or [V + S] for a model that copies.
std::vector<double> next_step(const Model& model, Index sentence, std::span<const Token> prefix) {
  const Sentences sentences{Scorer(model)};
  const Batch batch =
      make_batch(sentences.split, std::vector<Index>{sentence}, model.batch_parts());
  Tape tape(Tape::Mode::infer);
  Model::Source source = model.read(tape, batch.source_side());
  Tokens previous = {kBegin};
  Model::Prediction prediction;
  for (std::size_t i = 0; i <= prefix.size(); ++i) {
    if (i > 0) previous = {in_vocabulary(prefix[i - 1], kV)};
    prediction = model.predict(tape, source, previous);
    source.state = prediction.next;
  }
  std::vector<double> p;
  double sum = 0;
  for (const real x : prediction.logits.value())
    sum += p.emplace_back(std::exp(static_cast<double>(x)));
  for (double& one : p) one /= sum;
  return p;
}

// Returns the symbols as the model wrote them.
Tokens written(const Hypothesis& hypothesis) {
  Tokens tokens = hypothesis.tokens;
  for (const ReplacedWord& one : hypothesis.replaced)
    tokens[usize(one.symbol)] = static_cast<Token>(kV + one.source);
  return tokens;
}

const char* const kSearches[] = {"type: greedy",
                                 "type: beam, width: 20",
                                 "type: sample, samples: 30, temperature: 2",
                                 "type: sample, samples: 5, top_k: 4"};

void expect_law(const Scorer& scorer, Index sentence, const Hypothesis& one) {
  const std::vector<std::string_view> words = split_words(kLines[usize(sentence)]);
  BOOST_TEST(std::ranges::all_of(one.tokens, [](Token token) { return token < kV; }));
  for (const ReplacedWord& copied : one.replaced) {
    BOOST_TEST(one.tokens[usize(copied.symbol)] == kUnknown);
    BOOST_TEST(copied.text == words[usize(copied.source)]);
    BOOST_TEST(kWords->id(copied.text) == kUnknown);
    BOOST_TEST((std::ranges::find(words, copied.text) - words.begin() == copied.source));
  }
  if (scorer.models().size() > 1) return;
  const Tokens tokens = written(one);
  for (std::size_t t = 0; t < one.log_probabilities.size(); ++t) {
    const std::vector<double> p =
        next_step(*scorer.models()[0], sentence, std::span(tokens).first(t));
    const Token token = t < tokens.size() ? tokens[t] : kEnd;
    BOOST_TEST(std::abs(one.log_probabilities[t] - std::log(p[usize(token)])) < 1e-4);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(copying_search)

BOOST_AUTO_TEST_CASE(every_search_writes_words_of_the_source) {
  for (const char* layer : {"pointer", "pointer_generator"})
    for (const char* yaml : kSearches) BOOST_TEST_CONTEXT(layer << ", " << yaml) {
        const auto model = model_of(layer, 4);
        const Scorer scorer(*model);
        const Sentences sentences(scorer);
        Tape tape(Tape::Mode::infer);
        std::size_t copied = 0, different = 0;
        for (const bool forbids : {false, true}) {
          const auto found = search_of(yaml)->run(
              scorer, tape, sentences.batch.source_side(), {.no_unknown = forbids});
          for (Index b = 0; b < 2; ++b)
            for (const Hypothesis& one : found[usize(b)]) {
              expect_law(scorer, b, one);
              copied += one.replaced.size();
              const auto unknown = std::ranges::count(one.tokens, kUnknown);
              if (forbids) BOOST_TEST(unknown == std::ssize(one.replaced));
              const auto same =
                  std::ranges::count_if(found[usize(b)], [&](const Hypothesis& other) {
                    return other.tokens == one.tokens && other.finished == one.finished;
                  });
              different += same > 1;
            }
        }
        BOOST_TEST(copied > 0);
        // Some hypotheses differ only in a copied word.
        if (std::string_view(yaml).find("0") != std::string_view::npos) BOOST_TEST(different > 0);
      }
}

BOOST_AUTO_TEST_CASE(forced_decoding_gives_the_probability_of_a_copy) {
  const auto model = model_of("pointer_generator", 5);
  const Scorer scorer(*model);
  const Sentences sentences(scorer);
  const std::vector<Tokens> targets = {{3, kV + 1, kV + 3, kUnknown}, {kV, 5}};
  const std::vector<std::span<const Token>> spans(targets.begin(), targets.end());
  Tape tape(Tape::Mode::infer);
  const auto forced = force(scorer, tape, sentences.batch.source_side(), spans);
  for (Index b = 0; b < 2; ++b) {
    const Hypothesis& one = forced[usize(b)].hypothesis;
    BOOST_TEST(written(one) == targets[usize(b)], boost::test_tools::per_element());
    expect_law(scorer, b, one);
    for (std::size_t t = 0; t < one.steps(); ++t) {
      const std::vector<double> p = next_step(*model, b, std::span(targets[usize(b)]).first(t));
      BOOST_TEST(forced[usize(b)].best[t] == std::ranges::max_element(p) - p.begin());
    }
  }
}

BOOST_AUTO_TEST_CASE(prefixes_and_phrases_may_have_words_of_the_source) {
  const auto model = model_of("pointer_generator", 6);
  const Scorer scorer(*model);
  const Sentences sentences(scorer);
  const std::vector<Tokens> prefixes = {{kV + 1, 4, kUnknown}, {}};
  const std::vector<std::vector<Demands::Phrase>> phrases = {{{kV + 3, 3}}, {{kV, kV}, {5}}};
  Tape tape(Tape::Mode::infer);
  const auto found = search_of("type: beam, width: 6")
                         ->run(scorer,
                               tape,
                               sentences.batch.source_side(),
                               {.no_unknown = true, .prefixes = prefixes, .phrases = phrases});
  for (Index b = 0; b < 2; ++b)
    for (const Hypothesis& one : found[usize(b)]) {
      expect_law(scorer, b, one);
      const Tokens tokens = written(one);
      const Tokens& prefix = prefixes[usize(b)];
      BOOST_TEST_REQUIRE(tokens.size() >= prefix.size());
      BOOST_TEST(std::equal(prefix.begin(), prefix.end(), tokens.begin()));
      for (const Demands::Phrase& phrase : phrases[usize(b)])
        BOOST_TEST(!std::ranges::search(tokens, phrase).empty());
    }
}

// A model without copying gives probability 0 to words that the vocabulary lacks.
BOOST_AUTO_TEST_CASE(an_ensemble_may_have_models_that_copy_nothing) {
  const auto copying = model_of("pointer_generator", 4), other = model_of("pointer", 5),
             plain = model_of("softmax", 6);
  const std::vector<Tokens> targets = {{3, kV + 1, 4}, {kV}};
  const std::vector<std::span<const Token>> spans(targets.begin(), targets.end());
  Tape tape(Tape::Mode::infer);
  for (const auto& models : {std::vector<const Model*>{copying.get(), other.get()},
                             {copying.get(), plain.get()},
                             {plain.get(), copying.get()}}) {
    const Scorer scorer(models);
    const Sentences sentences(scorer);
    const auto forced = force(scorer, tape, sentences.batch.source_side(), spans);
    for (Index b = 0; b < 2; ++b)
      for (std::size_t t = 0; t < targets[usize(b)].size(); ++t) {
        const Token token = targets[usize(b)][t];
        double mean = 0;
        for (const Model* model : models) {
          const auto p = next_step(*model, b, std::span(targets[usize(b)]).first(t));
          if (usize(token) < p.size()) mean += p[usize(token)] / 2;
        }
        BOOST_TEST(std::abs(forced[usize(b)].hypothesis.log_probabilities[t] - std::log(mean)) <
                   1e-4);
      }
    for (const char* yaml : kSearches) {
      const auto found = search_of(yaml)->run(scorer, tape, sentences.batch.source_side());
      for (Index b = 0; b < 2; ++b)
        for (const Hypothesis& one : found[usize(b)]) expect_law(scorer, b, one);
    }
  }
  // The mean of logarithms would give every copied word the probability 0.
  BOOST_CHECK_THROW(Scorer({copying.get(), plain.get()}, Scorer::Mean::log_probabilities),
                    SpecError);
}

// A copied word is not replaced; other <unk> are, according to evaluate.unknown_words.
BOOST_AUTO_TEST_CASE(a_copied_word_is_not_replaced_again) {
  Hypothesis one;
  one.tokens = {3, kUnknown, kUnknown};
  one.finished = true;
  one.replaced = {{1, 3, "Al"}};
  one.alignment.assign(24, 0);
  for (std::size_t step = 0; step < 4; ++step) one.alignment[6 * step + 1] = 1;
  UnknownWords({"attention", {}}, kWords.get(), *kWords, RowAligns::predicted)
      .replace(one, kLines[0]);
  BOOST_TEST(text_of(one, *kWords) == "a Al Zoe");
}

BOOST_AUTO_TEST_SUITE_END()
