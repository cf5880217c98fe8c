// Constraints on outputs: prefixes, no <unk>, phrases. A beam with phrases is compared with a slow one that reads
// every hypothesis again and follows Post and Vilar 2018 word by word.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/base/random.hpp"
#include "framework/config/spec.hpp"
#include "framework/eval/beam.hpp"
#include "framework/eval/phrases.hpp"
#include "tests/eval/same_hypotheses.hpp"
#include "tests/eval/search_of.hpp"
#include "tests/eval/small_model.hpp"

using namespace softalign;

namespace {

using Phrases = std::vector<Demands::Phrase>;
using Tokens = std::vector<Token>;

bool contains(const Tokens& tokens, const Demands::Phrase& phrase) {
  return std::ranges::search(tokens, phrase).begin() != tokens.end() || phrase.empty();
}

// Returns the length of the longest prefix of the phrase that the tokens end with.
Index begun(const Tokens& tokens, const Demands::Phrase& phrase) {
  for (std::size_t n = std::min(tokens.size(), phrase.size()); n > 0; --n)
    if (std::equal(phrase.begin(),
                   phrase.begin() + static_cast<std::ptrdiff_t>(n),
                   tokens.end() - static_cast<std::ptrdiff_t>(n)))
      return static_cast<Index>(n);
  return 0;
}

Index plain_missing(const Tokens& tokens, const Phrases& phrases) {
  Index missing = 0, most = 0;
  for (const Demands::Phrase& phrase : phrases) {
    if (contains(tokens, phrase)) continue;
    missing += std::ssize(phrase);
    most = std::max(most, begun(tokens, phrase));
  }
  return missing - most;
}

Tokens longer(Tokens tokens, Token token) {
  if (token != kEnd) tokens.push_back(token);
  return tokens;
}

struct Plain {
  Tokens tokens;
  double log_probability = 0;
  bool finished = false;
};

std::vector<Plain> plain_search(const SmallModel& small,
                                Index sentence,
                                const BeamSettings& settings,
                                const Phrases& phrases) {
  Index symbols = 0;
  for (const Demands::Phrase& phrase : phrases) symbols += std::ssize(phrase);
  const Index limit =
      std::max(settings.limits.most_steps(small.lengths[usize(sentence)]), symbols + 1);
  struct Candidate {
    double p;
    std::size_t live;
    Token token;
    Index missing;
    bool operator==(const Candidate& other) const {
      return live == other.live && token == other.token;
    }
  };
  std::vector<Plain> finished, live = {{}};
  for (Index step = 0; !live.empty(); ++step) {
    const std::size_t width = usize(settings.width) - finished.size();
    std::vector<Candidate> all, pool;
    const auto add = [&](const Candidate& one) {
      if (std::ranges::find(pool, one) == pool.end()) pool.push_back(one);
    };
    const auto by_p = [](const Candidate& a, const Candidate& b) { return a.p > b.p; };
    std::vector<Candidate> chosen;
    for (std::size_t i = 0; i < live.size(); ++i) {
      const std::vector<double> p = next_step(small, sentence, live[i].tokens).p;
      const Candidate* best = nullptr;
      const std::size_t first = all.size();
      for (Token v = 0; v < SmallModel::kSymbols; ++v) {
        const Index missing = plain_missing(longer(live[i].tokens, v), phrases);
        if (v == kBegin || missing > (v == kEnd ? 0 : limit - step - 1)) continue;
        all.push_back({live[i].log_probability + std::log(p[usize(v)]), i, v, missing});
      }
      for (std::size_t k = first; k < all.size(); ++k)
        if (best == nullptr || all[k].p > best->p) best = &all[k];
      if (best != nullptr) add(*best);
      for (std::size_t k = first; k < all.size(); ++k)
        for (const Demands::Phrase& phrase : phrases)
          if (!contains(live[i].tokens, phrase) &&
              all[k].token == phrase[usize(begun(live[i].tokens, phrase))])
            add(all[k]);
    }
    std::stable_sort(all.begin(), all.end(), by_p);
    for (std::size_t k = 0; k < std::min(width, all.size()); ++k) add(all[k]);
    std::vector<Index> counts(usize(symbols + 1)), slots(usize(symbols + 1));
    for (const Candidate& c : pool) ++counts[usize(symbols - c.missing)];
    allocate_banks(static_cast<Index>(width), counts, slots);
    std::stable_sort(pool.begin(), pool.end(), by_p);
    for (const Candidate& c : pool)
      if (slots[usize(symbols - c.missing)]-- > 0) chosen.push_back(c);
    std::vector<Plain> next;
    for (const Candidate& c : chosen) {
      Plain one{longer(live[c.live].tokens, c.token), c.p, c.token == kEnd};
      (one.finished || step + 1 == limit ? finished : next).push_back(one);
    }
    live = std::move(next);
  }
  std::stable_sort(finished.begin(), finished.end(), [](const Plain& a, const Plain& b) {
    return a.finished != b.finished ? a.finished : a.log_probability > b.log_probability;
  });
  return finished;
}

const char* const kSearches[] = {"type: greedy",
                                 "type: beam, width: 3",
                                 "type: sample, samples: 4, temperature: 3",
                                 "type: sample, top_k: 2"};

}  // namespace

BOOST_AUTO_TEST_SUITE(demands)

BOOST_AUTO_TEST_CASE(progress_is_what_the_hypothesis_ends_with) {
  const RandomStream random(1, "phrases");
  for (std::uint64_t round = 0; round < 200; ++round) {
    Phrases phrases;
    for (Index n = 0; n < 1 + random.below(3, round, 1); ++n) {
      phrases.emplace_back();
      for (Index i = 0; i < 1 + random.below(4, round, 2 + static_cast<std::uint64_t>(n)); ++i)
        phrases.back().push_back(3 + static_cast<Token>(random.below(
                                         2, round, 10 + static_cast<std::uint64_t>(8 * n + i))));
    }
    std::ranges::sort(phrases);
    phrases.erase(std::unique(phrases.begin(), phrases.end()), phrases.end());
    const PhraseSet set(phrases);
    BOOST_REQUIRE(set.count() == std::ssize(phrases));
    std::vector<Index> progress(phrases.size());
    Tokens tokens;
    for (std::uint64_t i = 0; i < 12; ++i) {
      const Token token = 3 + static_cast<Token>(random.below(2, round, 100 + i));
      const Index expected = plain_missing(longer(tokens, token), phrases);
      BOOST_TEST(set.missing_after(progress, token) == expected);
      std::vector<Index> next;
      for (Index phrase = 0; phrase < set.count(); ++phrase)
        next.push_back(set.after(phrase, progress, token));
      progress = next;
      tokens.push_back(token);
      BOOST_TEST(set.missing(progress) == expected);
      for (Index phrase = 0; phrase < set.count(); ++phrase) {
        const Demands::Phrase& one = phrases[usize(phrase)];
        BOOST_TEST(set.next(phrase, progress) ==
                   (contains(tokens, one) ? -1 : one[usize(begun(tokens, one))]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(banks_get_equal_shares_and_what_others_leave) {
  const auto slots = [](Index width, std::vector<Index> candidates) {
    std::vector<Index> found(candidates.size());
    allocate_banks(width, candidates, found);
    return found;
  };
  using Slots = std::vector<Index>;
  BOOST_TEST(slots(10, {50, 50, 50}) == (Slots{3, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(slots(10, {50, 50, 1}) == (Slots{3, 6, 1}), boost::test_tools::per_element());
  BOOST_TEST(slots(10, {0, 2, 50}) == (Slots{0, 2, 8}), boost::test_tools::per_element());
  BOOST_TEST(slots(2, {50, 50, 50}) == (Slots{0, 0, 2}), boost::test_tools::per_element());
  BOOST_TEST(slots(10, {1, 0, 2}) == (Slots{1, 0, 2}), boost::test_tools::per_element());
  BOOST_TEST(slots(3, {50}) == (Slots{3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_beam_with_phrases_is_the_plain_one) {
  const std::vector<Phrases> all = {
      {{5, 8}}, {{4}, {7, 3}}, {}, {{3, 3, 4}, {3, 4}, {8}}, {{6, 6, 5, 6, 6}}, {{8}, {8}}};
  for (const char* attention : {"global", "none"}) {
    const SmallModel small(attention);
    Tape tape(Tape::Mode::infer);
    for (const Index width : {1, 2, 5, 12})
      for (std::size_t first = 0; first < all.size(); ++first) {
        const BeamSettings settings{width, 0, {1, 2}};
        std::vector<Phrases> phrases;
        for (std::size_t b = 0; b < 3; ++b) phrases.push_back(all[(first + b) % all.size()]);
        const auto together =
            beam_search(*small.model, tape, small.all(), settings, {.phrases = phrases});
        for (Index b = 0; b < 3; ++b) {
          const std::vector<Hypothesis>& found = together[usize(b)];
          const auto own = std::span(phrases).subspan(usize(b), 1);
          expect_same(
              beam_search(*small.model, tape, small.one(b, b), settings, {.phrases = own})[0],
              found);
          if (own[0].empty())
            expect_same(beam_search(*small.model, tape, small.one(b, b), settings)[0], found);
          Phrases distinct = own[0];
          if (distinct.size() == 2 && distinct[0] == distinct[1]) distinct.pop_back();
          const std::vector<Plain> expected = plain_search(small, b, settings, distinct);
          BOOST_REQUIRE(found.size() == expected.size());
          for (std::size_t k = 0; k < found.size(); ++k) {
            BOOST_TEST(found[k].tokens == expected[k].tokens, boost::test_tools::per_element());
            BOOST_TEST(found[k].finished == expected[k].finished);
            BOOST_TEST(std::abs(found[k].log_probability - expected[k].log_probability) < 1e-4);
            for (const Demands::Phrase& phrase : own[0])
              BOOST_TEST(contains(found[k].tokens, phrase));
          }
        }
      }
  }
}

BOOST_AUTO_TEST_CASE(every_search_writes_the_prefix_and_then_what_it_would) {
  const SmallModel small;
  const std::vector<Tokens> prefixes = {
      {8, 0, 8, 3}, {}, Tokens(20, 5)};  // one is longer than the limit
  for (const char* yaml : kSearches) {
    const auto search = search_of(yaml);
    Tape tape(Tape::Mode::infer);
    const auto found =
        search->run(*small.model, tape, small.all(), {.no_unknown = true, .prefixes = prefixes});
    const auto free = search->run(*small.model, tape, small.all(), {.no_unknown = true});
    expect_same(found[1], free[1]);
    for (std::size_t b = 0; b < 3; ++b)
      for (const Hypothesis& one : found[b]) {
        const Tokens& prefix = prefixes[b];
        BOOST_TEST_REQUIRE(one.tokens.size() >= prefix.size());
        BOOST_TEST(std::equal(prefix.begin(), prefix.end(), one.tokens.begin()));
        BOOST_TEST(
            std::count(one.tokens.begin() + std::ssize(prefix), one.tokens.end(), kUnknown) == 0);
        if (!one.finished) continue;
        std::vector<std::span<const Token>> targets = {one.tokens};
        const Index number = static_cast<Index>(b);
        const auto forced = force(*small.model, tape, small.one(number, number), targets);
        BOOST_TEST(forced[0].hypothesis.log_probability == one.log_probability);
      }
    // Greedy search continues with the most probable symbol.
    if (search->most() > 1 || search->most_option() == "samples") continue;
    Tokens tokens = found[0][0].tokens;
    for (std::size_t i = prefixes[0].size(); i < tokens.size(); ++i) {
      std::vector<double> p = next_step(small, 0, std::span(tokens).first(i)).p;
      p[kBegin] = p[kUnknown] = 0;
      BOOST_TEST(tokens[i] == std::max_element(p.begin(), p.end()) - p.begin());
    }
  }
}

BOOST_AUTO_TEST_CASE(no_search_writes_an_unknown_word_where_it_is_forbidden) {
  const SmallModel small;
  for (const Parameter& parameter : small.model->parameters().all())
    if (parameter.name == "projection.b") parameter.value().data[kUnknown] = 3;
  for (const char* yaml : kSearches) {
    const auto search = search_of(yaml);
    BOOST_TEST((search->meets(Demand::no_unknown) && search->meets(Demand::prefix)));
    BOOST_TEST(search->meets(Demand::phrases) ==
               (std::string_view(yaml).find("beam") != std::string_view::npos));
    Tape tape(Tape::Mode::infer);
    Index before = 0, after = 0;
    for (const auto& list : search->run(*small.model, tape, small.all()))
      for (const Hypothesis& one : list) before += std::ranges::count(one.tokens, kUnknown);
    for (const auto& list : search->run(*small.model, tape, small.all(), {.no_unknown = true})) {
      BOOST_TEST(!list.empty());
      for (const Hypothesis& one : list) after += std::ranges::count(one.tokens, kUnknown);
    }
    BOOST_TEST(before > 0);
    BOOST_TEST(after == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_search_that_cannot_is_refused) {
  BOOST_CHECK_THROW(
      check_demand(*search_of("type: greedy"), Demand::phrases, "--constraints", "greedy"),
      SpecError);
  BOOST_CHECK_NO_THROW(
      check_demand(*search_of("type: beam"), Demand::phrases, "--constraints", "beam"));
}

BOOST_AUTO_TEST_SUITE_END()
