// BLEU of 1,000 sentences in five scripts with each tokenisation, against sacreBLEU; freeze_scripts.py made the file.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/eval/text_metrics.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(tokenisation)

BOOST_AUTO_TEST_CASE(bleu_equals_sacrebleu_in_five_scripts) {
  using Words = std::vector<std::string> (*)(std::string_view);
  const std::map<std::string, Words> tokenisations = {{"none", tokenise_none},
                                                      {"13a", tokenise_13a},
                                                      {"intl", tokenise_intl},
                                                      {"char", tokenise_char}};
  std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/eval/sacrebleu_scripts.json");
  const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  BOOST_REQUIRE(cases.size() == 5u);
  for (const nlohmann::json& one : cases) {
    const std::vector<std::string> hypotheses = one.at("hypotheses"),
                                   references = one.at("references");
    BOOST_REQUIRE(hypotheses.size() == 200u);
    for (const auto& [name, words] : tokenisations) {
      const nlohmann::json& expected = one.at("expected").at(name);
      const std::vector<double> counts = expected.at("counts");
      BleuSums sums{};
      for (std::size_t i = 0; i < hypotheses.size(); ++i) {
        const BleuStats stats = bleu_stats(words(hypotheses[i]), words(references[i]));
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += stats[k];
      }
      BOOST_TEST_CONTEXT(one.at("script").get<std::string>() << ", " << name) {
        BOOST_TEST(std::vector<double>(sums.begin() + 2, sums.end()) == counts,
                   boost::test_tools::per_element());
        BOOST_TEST(std::abs(bleu(sums) - expected.at("score").get<double>()) < 1e-12);
        BOOST_TEST(std::abs(brevity_penalty(sums) - expected.at("bp").get<double>()) < 1e-15);
        BOOST_TEST(sums[0] / sums[1] == expected.at("ratio").get<double>());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(by_hand) {
  const auto is = [](const std::vector<std::string>& words,
                     const std::vector<std::string>& wanted) {
    BOOST_TEST(words == wanted, boost::test_tools::per_element());
  };
  is(tokenise_none(" a\u00a0b,\tc "), {"a", "b,", "c"});
  is(tokenise_13a("It's 3,000.5 - no: 12-13."),
     {"It's", "3,000.5", "-", "no", ":", "12", "-", "13", "."});
  is(tokenise_13a("&quot;a&quot;&lt;skipped&gt;<skipped>"), {"\"", "a", "\"", "<", "skipped", ">"});
  is(tokenise_intl("«a», 3.5€ 7."), {"«", "a", "»", ",", "3.5", "€", "7."});
  is(tokenise_char("a b\u3000ü\u20ac\U0001F600\u07ff\uffff"),
     {"a", "b", "ü", "€", "😀", "\u07ff", "\uffff"});
  is(tokenise_char("\xff"), {"\uFFFD"});
  for (const auto tokenise : {tokenise_none, tokenise_13a, tokenise_intl, tokenise_char})
    for (const char* nothing : {"", " ", "\u3000\n"}) is(tokenise(nothing), {});
}

BOOST_AUTO_TEST_SUITE_END()
