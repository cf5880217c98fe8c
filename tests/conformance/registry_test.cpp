// The conformance suite over all registered plugins, in double.
#include <boost/test/unit_test.hpp>

#include "framework/config/registry.hpp"
#include "framework/config/spec.hpp"
#include "framework/plugin.hpp"
#include "framework/seq/conformance.hpp"
#include "tests/allocations.hpp"

using namespace softalign;

namespace {

// Breaks every law: it reads padding and neighbouring sentences, which the suite must catch.
class Faulty final : public Score {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  Faulty(const Parameters&, ScoreSizes, const Options&) {}
  Memory prepare(Var annotations) const override { return {annotations}; }
  Var score(const Memory& memory, const Query& query) const override {
    Tape& tape = query.state.tape();
    const Index rows = memory.keys.shape()[0], positions = memory.keys.shape()[1];
    View energies = tape.allocate({rows, positions});
    real total = 0;
    for (real x : memory.keys.value()) total += x;
    for (Index i = 0; i < energies.size(); ++i)
      energies.data[i] = total * static_cast<real>(i % positions);
    return tape.record(energies, {memory.keys}, [keys = memory.keys](View de) {
      for (real& d : keys.gradient()) d += de.data[0];
    });
  }
};
SOFTALIGN_SCORE("faulty_for_test", Faulty, "breaks every law");

// Uses a parameter as if it were an array with one row per sentence.
class Shared final : public Score {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  Shared(const Parameters& p, ScoreSizes sizes, const Options&)
      : query_(p, "query", sizes.query, sizes.annotation, Linear::Bias::no),
        v_(p.add("v", {sizes.annotation}, init::glorot())) {}
  Memory prepare(Var annotations) const override { return {annotations}; }
  Var score(const Memory& memory, const Query& query) const override {
    Var v = tanh(query.state.tape().parameter(*v_));
    return additive_energy(memory.keys, query_(query.state), v, memory.lengths);
  }

 private:
  Linear query_;
  Parameter* v_;
};
SOFTALIGN_SCORE("shared_for_test", Shared, "a parameter that is no weight of a layer");

// Omits the arrays of the attention from the next state.
class Forgetful final : public AttentionalDecoder<Gru> {
 public:
  using AttentionalDecoder::AttentionalDecoder;
  DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const override {
    const DecoderStep whole = AttentionalDecoder::step(memory, state, std::move(input));
    return {{whole.next[0]}, whole.output, whole.weights};
  }
};
SOFTALIGN_DECODER("forgetful_for_test", Forgetful, "loses the attention's state");

class Silent final : public AttentionalDecoder<Gru> {
 public:
  using AttentionalDecoder::AttentionalDecoder;
  DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const override {
    const DecoderStep whole = AttentionalDecoder::step(memory, state, std::move(input));
    return {whole.next, whole.output, {}};
  }
};
SOFTALIGN_DECODER("silent_for_test", Silent, "keeps its weights to itself");

// Its constructor throws.
class Stillborn final : public AttentionalDecoder<Gru> {
 public:
  Stillborn(const Parameters& p, const DecoderSizes& sizes, const Options& options)
      : AttentionalDecoder(p, sizes, options) {
    throw 7;
  }
};
SOFTALIGN_DECODER("stillborn_for_test", Stillborn, "cannot be made");

// Each position attends to all positions, including padding.
class Unbounded final : public Encoder {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  Unbounded(const Parameters&, Index embedding, const Options&) : size_(embedding) {}
  Annotations encode(const EncoderInput& source) const override {
    const Shape& shape = source.embedded.shape();
    View weights = source.embedded.tape().allocate({shape[1], shape[0], 1, shape[1]});
    std::fill(weights.begin(), weights.end(), real{1} / static_cast<real>(shape[1]));
    if (source.heads != nullptr) source.heads->add(0, 0, weights);
    Var last = select_last_valid(source.embedded, source.lengths);
    return {source.embedded, last, last, source.lengths};
  }
  Index size() const override { return size_; }
  Index start_size() const override { return size_; }
  bool attends() const override { return true; }

 private:
  Index size_;
};
SOFTALIGN_ENCODER("unbounded_for_test", Unbounded, "attends to padding");

}  // namespace

BOOST_AUTO_TEST_SUITE(conformance)

BOOST_AUTO_TEST_CASE(everything_registered_conforms) {
  std::function<Index()> allocations;
  if (allocations_are_counted()) allocations = [] { return Index{calls_of_new}; };
  int checked = 0;
  for (const std::string& kind : Registry::instance().kinds())
    for (const PluginEntry* entry : Registry::instance().entries(kind)) {
      if (entry->name.ends_with("_for_test")) continue;
      BOOST_TEST_CONTEXT(kind << " " << entry->name)
      for (const ConformanceResult& result : check_conformance(kind, entry->name, allocations)) {
        BOOST_TEST_CONTEXT(result.check << ": " << result.detail) BOOST_TEST(result.passed);
        ++checked;
      }
    }
  BOOST_TEST(checked > 40);
  BOOST_TEST(Registry::instance().errors().empty());
}

// Plugins with options that change their computation from the default.
BOOST_AUTO_TEST_CASE(options_conform) {
  struct Options {
    Choice encoder{.kind = "encoder"};
    Choice decoder{.kind = "decoder"};
    void describe(OptionVisitor& v) {
      v("encoder", encoder, "");
      v("decoder", decoder, "");
    }
  };
  std::function<Index()> allocations;
  if (allocations_are_counted()) allocations = [] { return Index{calls_of_new}; };
  for (const char* of_transformer : {"norm: pre, positions: learned, max_positions: 3",
                                     "positions: none",
                                     "positions: relative",
                                     "positions: relative, clip: 1, relative_values: true",
                                     "positions: relative, clip: 2, relative_values: true, "
                                     "relative_shared: true, norm: pre",
                                     "positions: rotary"}) {
    const Options options =
        parse_spec<Options>(
            fmt::format("{{encoder: {{type: self_attention, {0}}}, decoder: {{type: "
                        "transformer, {0}}}}}",
                        of_transformer),
            "")
            .spec;
    for (const Choice& choice : {options.encoder, options.decoder})
      BOOST_TEST_CONTEXT(choice.kind << " " << of_transformer)
    for (const ConformanceResult& result : check_conformance(choice, allocations))
      BOOST_TEST_CONTEXT(result.check << ": " << result.detail) BOOST_TEST(result.passed);
  }
}

BOOST_AUTO_TEST_CASE(a_faulty_plugin_is_caught) {
  for (const ConformanceResult& result : check_conformance("score", "faulty_for_test")) {
    const bool should_pass = result.check == "options" || result.check == "construction" ||
                             result.check == "same bits" || result.check == "parts";
    BOOST_TEST_CONTEXT(result.check << ": " << result.detail)
    BOOST_TEST(result.passed == should_pass);
  }
}

BOOST_AUTO_TEST_CASE(a_gradient_that_the_cut_of_a_batch_would_change_is_refused) {
  const auto results = check_conformance("score", "shared_for_test");
  const auto gradients = std::find_if(results.begin(), results.end(), [](const auto& result) {
    return result.check == "gradients";
  });
  BOOST_REQUIRE((gradients != results.end()));
  BOOST_TEST(!gradients->passed);
}

BOOST_AUTO_TEST_CASE(an_encoder_that_attends_to_padding_is_caught) {
  Index caught = 0;
  for (const ConformanceResult& result : check_conformance("encoder", "unbounded_for_test"))
    if (result.detail.find("[encoder] the weights of a head sum to 0.8") == 0) ++caught;
  BOOST_TEST(caught > 0);
}

BOOST_AUTO_TEST_CASE(a_decoder_that_loses_what_its_attention_needs_is_caught) {
  const auto first_failure = [](const char* decoder) {
    for (const ConformanceResult& result : check_conformance("decoder", decoder))
      if (!result.passed) return result.check;
    return std::string();
  };
  BOOST_TEST(first_failure("forgetful_for_test") == "gradients");
  BOOST_TEST(first_failure("silent_for_test") == "gradients");
  BOOST_TEST(first_failure("stillborn_for_test") == "construction");
}

BOOST_AUTO_TEST_SUITE_END()
