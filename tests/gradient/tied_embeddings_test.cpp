// Embeddings tied to the projection (Press and Wolf 2017): the gradient of one table that is used for lookups
// and products.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <set>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/batches.hpp"
#include "framework/seq/model.hpp"
#include "tests/message.hpp"

using namespace softalign;

namespace {

constexpr Index kSymbols = 3 + 6;

struct Options {
  ModelOptions model;
  template <class V>
  void describe(V& v) {
    v("model", model, "");
  }
};

// With one vocabulary for both sides.
struct TaskAndModel {
  explicit TaskAndModel(const std::string& tied, Index embedding = 4, Index target = kSymbols) {
    const std::string yaml = fmt::format(
        "model: {{embedding: {}, tied_embeddings: {}, encoder: {{type: gru, units: 3}},\n"
        "  attention: {{type: global, score: {{type: general}}}},\n"
        "  decoder: {{type: attentional_gru, units: 3, readout_units: 4}}}}\n",
        embedding,
        tied);
    model = std::make_unique<Model>(
        parse_spec<Options>(yaml, "test.yaml").spec.model, kSymbols, target, 5);
  }
  std::unique_ptr<Model> model;
};

// Sentences of the symbols 3 to 6; the last symbols do not occur.
Batch sentences() {
  Split split{"train", {}, {}};
  for (Index i = 3; i >= 0; --i) {
    std::vector<Token> source, target;
    for (Index k = 0; k <= i; ++k) {
      source.push_back(static_cast<Token>(3 + (i + k) % 4));
      target.push_back(static_cast<Token>(3 + (i * k) % 4));
    }
    split.examples.append({source, target, {}, "", ""});
  }
  return make_batch(split, std::vector<Index>{0, 1, 2, 3});
}

std::set<std::string> names_of(const Model& model) {
  std::set<std::string> names;
  for (const Parameter& parameter : model.parameters().all()) names.insert(parameter.name);
  return names;
}

std::string refusal(const std::string& tied, Index embedding, Index target) {
  return test::refusal([&] { TaskAndModel{tied, embedding, target}; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tied_tables)

BOOST_AUTO_TEST_CASE(have_the_gradient_of_both_uses) {
  const Batch batch = sentences();
  for (const char* tied : {"none", "target", "all"}) {
    TaskAndModel s(tied);
    const GradientCheck result = check_gradients(
        [&](Tape& tape, const std::vector<Var>&) {
          return std::vector<Var>{sum(s.model->forward(tape, batch, 0.5).losses.loss)};
        },
        {},
        &s.model->parameters(),
        1000);
    BOOST_TEST_CONTEXT(tied << " " << result.where) BOOST_TEST(result.worst < 1e-5);
    BOOST_TEST(result.checked == s.model->parameters().count());
  }
}

BOOST_AUTO_TEST_CASE(are_fewer_parameters) {
  const auto none = names_of(*TaskAndModel("none").model);
  const auto target = names_of(*TaskAndModel("target").model);
  const auto all = names_of(*TaskAndModel("all").model);
  BOOST_TEST(none.size() == target.size() + 1);
  BOOST_TEST(none.size() == all.size() + 2);
  BOOST_TEST((none.contains("projection.W") && !target.contains("projection.W")));
  BOOST_TEST((target.contains("source.embedding.E") && !all.contains("source.embedding.E")));
  BOOST_TEST((all.contains("target.embedding.E") && all.contains("projection.b")));
}

BOOST_AUTO_TEST_CASE(that_do_not_fit_are_refused_with_a_remedy) {
  BOOST_TEST(test::contains(refusal("target", 5, kSymbols), "readout_units"));
  BOOST_TEST(test::contains(refusal("all", 4, kSymbols + 1), "one vocabulary"));
  BOOST_TEST(refusal("target", 4, kSymbols + 1) == "accepted");
}

BOOST_AUTO_TEST_SUITE_END()
