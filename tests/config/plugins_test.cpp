// The fake plugins of example.hpp, and the registry's own messages.
#include "framework/config/snapshot.hpp"
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

}  // namespace
// Has the name of another kind.
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
  const std::string message = refusal([&] { make_plugin<OtherKind>(choice, 1); });
  BOOST_TEST(message.starts_with("fake_score 'additive' (of "));
  BOOST_TEST(message.ends_with("build it again with this one's"));
}

BOOST_AUTO_TEST_CASE(every_plugin_option_survives_a_round_trip) {
  for (const PluginEntry* entry : Registry::instance().entries("fake_score"))
    BOOST_TEST(round_trip_fault(*entry->options()) == "");
  BOOST_TEST(round_trip_fault(OptionsOf<example::Example>{}) == "");
}

BOOST_AUTO_TEST_CASE(a_faulty_description_is_named) {
  BOOST_TEST(round_trip_fault(OptionsOf<Careless::Options>{}) ==
             "defaults:1:8: units: expected an integer >= 1, got '0'");
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
