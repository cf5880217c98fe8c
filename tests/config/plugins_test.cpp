// The fake plugins of example.hpp, and the registry's messages.
#include "framework/config/registry.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/writer.hpp"
#include "tests/config/example.hpp"

namespace softalign {
namespace {

struct FakeScore {
  virtual ~FakeScore() = default;
};
struct FakeScoreKind {
  static constexpr const char* name = "fake_score";
  using Make = std::unique_ptr<FakeScore>();
};
struct FakeListedKind {
  static constexpr const char* name = "fake_listed";
  using Make = std::unique_ptr<FakeScore>();
};
}  // namespace

namespace {

struct Dot final : FakeScore {
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  explicit Dot(const Options&) {}
};

struct Additive final : FakeScore {
  struct Options {
    Index units = 256;
    float gain = 0.1F;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units", at_least(1));
      v("gain", gain, "factor on the energy");
      v.check("gain", gain < 100 || units > 1, "one unit needs a gain below 100");
    }
  };
  explicit Additive(const Options&) {}
};

struct General final : FakeScore {
  struct Options {
    Index units = 128;
    bool bias = false;
    template <class V>
    void describe(V& v) {
      v("units", units, "inner units", at_least(1));
      v("bias", bias, "adds a bias");
    }
  };
  explicit General(const Options&) {}
};

struct Mixture final : FakeScore {
  struct Options {
    Choice part{.kind = "fake_score", .type = "dot"};
    InputFile table;
    template <class V>
    void describe(V& v) {
      v("part", part, "what is mixed");
      v("table", table, "weights of the mixture", required());
    }
  };
  explicit Mixture(const Options&) {}
};

struct Careless final : FakeScore {
  struct Options {
    Index units = 0;
    template <class V>
    void describe(V& v) {
      v("units", units, "below its own limit", at_least(1));
    }
  };
  explicit Careless(const Options&) {}
};

SOFTALIGN_PLUGIN(FakeScoreKind, "dot", Dot, "inner product");
SOFTALIGN_PLUGIN(FakeScoreKind, "additive", Additive, "one hidden layer");
SOFTALIGN_PLUGIN(FakeScoreKind, "general", General, "bilinear form");
SOFTALIGN_PLUGIN(FakeScoreKind, "mixture", Mixture, "of others");

struct Worded final : FakeScore {
  struct Options {
    std::string norm = "softmax";
    bool bias = false;
    Index heads = 1;
    template <class V>
    void describe(V& v) {
      v("norm", norm, "normalisation", one_of("softmax", "sparse", "sparse_max"));
      v("bias", bias, "adds a bias");
      v("heads", heads, "heads", between(1, 16));
    }
  };
  explicit Worded(const Options&) {}
};
SOFTALIGN_PLUGIN(FakeListedKind, "worded", Worded, "with an option of each kind that has a word");
struct WordedSparse final : FakeScore {
  using Options = Dot::Options;
  explicit WordedSparse(const Options&) {}
};
struct Plain final : FakeScore {
  struct Options {
    double gain = 1;
    template <class V>
    void describe(V& v) {
      v("gain", gain, "an option without a word");
    }
  };
  explicit Plain(const Options&) {}
};
SOFTALIGN_PLUGIN(FakeListedKind, "plain", Plain, "another");
SOFTALIGN_PLUGIN(FakeListedKind,
                 "worded_sparse",
                 WordedSparse,
                 "the beginning of its name is another's");

struct List {
  std::vector<std::string> scores = {};
  template <class V>
  void describe(V& v) {
    v("scores", scores, "several", plugins_of("fake_listed"));
  }
};

std::vector<std::string> words(const std::string& yaml) {
  return parse_spec<List>("scores: " + yaml + "\n", "x.yaml").spec.scores;
}

std::string refused_words(const std::string& yaml) {
  return test::refusal([&] { words(yaml); });
}

}  // namespace
// A kind whose name is already taken.
struct OtherKind {
  static constexpr const char* name = "fake_score";
  using Make = std::unique_ptr<FakeScore>(Index);
};

}  // namespace softalign

using namespace softalign;
using namespace softalign::test;

BOOST_AUTO_TEST_SUITE(plugins)

BOOST_AUTO_TEST_CASE(a_choice_without_options_is_built_with_the_defaults) {
  const Choice choice{.kind = "fake_score", .type = "additive"};
  BOOST_TEST((make_plugin<FakeScoreKind>(choice) != nullptr));
}

BOOST_AUTO_TEST_CASE(another_program_s_kind_of_the_same_name_is_refused_in_words) {
  const Choice choice{.kind = "fake_score", .type = "additive"};
  BOOST_CHECK_THROW(make_plugin<OtherKind>(choice, 1), SpecError);
}

BOOST_AUTO_TEST_CASE(a_list_of_plugins_holds_a_word_for_each) {
  using Words = std::vector<std::string>;
  BOOST_TEST(words("plain") == (Words{"plain"}));
  BOOST_TEST(words("[plain, {plain: {}}, {worded: {norm: softmax}}]") ==
             (Words{"plain", "plain", "worded"}));
  BOOST_TEST(words("[{worded: {heads: 12, norm: sparse_max, bias: true}}, worded_bias]") ==
             (Words{"worded_sparse_max_bias_heads12", "worded_bias"}));
  for (const char* wrong : {"[{worded: {head: 2}}]",
                            "[{word: {}}]",
                            "[{worded: {heads: 17}}]",
                            "[{worded: 2}]",
                            "[worded_bias2]",
                            "[{worded: {}, plain: {}}]",
                            "[{plain: {gain: 2}}]"})
    BOOST_TEST(refused_words(wrong) != "accepted", wrong);
}

BOOST_AUTO_TEST_CASE(a_word_leads_to_the_plugin_and_its_options) {
  const auto read = [](const std::string& word) { return plugin_of_word("fake_listed", word); };
  const auto options_of_word = [&](const std::string& word) {
    return canonical_json(*read(word).value().options);
  };
  BOOST_TEST(options_of_word("worded") == R"({"bias":false,"heads":1,"norm":"softmax"})");
  BOOST_TEST(options_of_word("worded_sparse_max_bias_heads12") ==
             R"({"bias":true,"heads":12,"norm":"sparse_max"})");
  BOOST_TEST(read("worded_sparse_bias").value().type == "worded");
  BOOST_TEST(!read("").has_value());
  for (const std::string& none :
       test::words_of("word worded_ worded_softmax worded_bias_sparse_max worded_bias_bias "
                      "worded_heads worded_heads01 worded_heads1 wordedbias"))
    BOOST_TEST(!read(none).has_value(), none);
}

BOOST_AUTO_TEST_CASE(every_plugin_option_survives_a_round_trip) {
  for (const PluginEntry* entry : Registry::instance().entries("fake_score"))
    BOOST_TEST(round_trip_fault(*entry->options()) == "");
  BOOST_TEST(round_trip_fault(OptionsOf<example::Example>{}) == "");
}

BOOST_AUTO_TEST_CASE(a_faulty_description_is_named) {
  BOOST_TEST(round_trip_fault(OptionsOf<Careless::Options>{}).starts_with("defaults:1:8: "));
  struct Twice {
    Index a = 1;
    void describe(OptionVisitor& v) {
      v("a", a, "first");
      v("a", a, "second");
    }
  };
  BOOST_TEST(contains(round_trip_fault(OptionsOf<Twice>{}), "twice"));
  struct Silent {
    Index a = 1;
    void describe(OptionVisitor& v) { v("a", a, ""); }
  };
  BOOST_TEST(round_trip_fault(OptionsOf<Silent>{}) == "'a' has no help");
}

BOOST_AUTO_TEST_SUITE_END()
