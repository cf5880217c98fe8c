#include "framework/study/claim.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/message.hpp"

using namespace softalign;
using test::contains;

namespace {

const Position kHere{"study.yaml", 40, 12};

std::string refusal(const std::string& text) {
  return test::refusal([&] { Statement statement(text, kHere); });
}

double left(const std::string& sum, const std::vector<double>& values = {}) {
  return Statement(sum + " > 0", kHere).left(values);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(statement)

BOOST_AUTO_TEST_CASE(measurements_are_read) {
  const Statement s(
      "bleu[31-50](bible/dot-2) > bleu_x(bible/none) + chrf[61+](a.b/c) * loss[7](d/e)", kHere);
  const auto& m = s.measurements();
  BOOST_REQUIRE(m.size() == 4u);
  BOOST_TEST(m[0].metric == "bleu");
  BOOST_TEST(m[0].shortest == 31);
  BOOST_TEST(m[0].longest == 50);
  BOOST_TEST(m[0].part == "bible");
  BOOST_TEST(m[0].variant == "dot-2");
  BOOST_TEST(m[0].text == "bleu[31-50](bible/dot-2)");
  BOOST_TEST(m[1].metric == "bleu_x");
  BOOST_TEST(m[1].shortest == 0);  // all sentences
  BOOST_TEST(m[1].longest == std::numeric_limits<Index>::max());
  BOOST_TEST(m[2].shortest == 61);
  BOOST_TEST(m[2].longest == std::numeric_limits<Index>::max());
  BOOST_TEST(m[2].part == "a.b");
  BOOST_TEST(m[3].shortest == 7);
  BOOST_TEST(m[3].longest == 7);
  BOOST_TEST(s.comparison() == ">");
  BOOST_TEST(s.left({10, 2, 3, 4}) == 10);
  BOOST_TEST(s.right({10, 2, 3, 4}) == 14);
}

BOOST_AUTO_TEST_CASE(the_best_of_a_sweep_is_a_subject) {
  const Statement s("bleu[31+](best where model.units=64, a.score=x y) > bleu(best)", kHere);
  const Measurement& m = s.measurements()[0];
  BOOST_TEST(m.variant.empty());
  BOOST_TEST(m.shortest == 31);
  BOOST_REQUIRE(m.among.size() == 2u);
  BOOST_TEST((m.among[0].path + "|" + m.among[0].value.text) == "model.units|64");
  BOOST_TEST((m.among[1].path + "|" + m.among[1].value.text) == "a.score|x y");
  BOOST_TEST(s.measurements()[1].among.empty());
  BOOST_TEST(Statement("a(best/none) > 0", kHere).measurements()[0].part == "best");
}

BOOST_AUTO_TEST_CASE(arithmetic_binds_as_in_school) {
  BOOST_TEST(left("1 + 2 * 3") == 7);
  BOOST_TEST(left("(1 + 2) * 3") == 9);
  BOOST_TEST(left("10 - 2 - 3") == 5);
  BOOST_TEST(left("-2 * -3 + .5") == 6.5);
  BOOST_TEST(left("1e2-a(b/c)", {30}) == 70);
  BOOST_TEST(left("2 * (a(b/c) - a(b/d))", {5, 3}) == 4);
}

BOOST_AUTO_TEST_CASE(comparisons) {
  const auto holds = [](const char* comparison, double a, double b) {
    return Statement(fmt::format("1 {} 2", comparison), kHere).holds(a, b);
  };
  BOOST_TEST(holds(">=", 1, 1));
  BOOST_TEST(holds("<=", 1, 1));
  BOOST_TEST(!holds(">", 1, 1));
  BOOST_TEST(!holds("<", 1, 1));
  BOOST_TEST(holds("<", 1, 2));
  BOOST_TEST(holds(">", 2, 1));
  for (const char* comparison : {"<", "<=", ">", ">="})
    BOOST_TEST(!holds(comparison, std::nan(""), 1));
}

BOOST_AUTO_TEST_CASE(a_value_is_yaml_on_one_line) {
  const Statement s("bleu(best where a={type: x, b: [1, 2]}, c=1.0e-3) > 0", kHere);
  const std::vector<Setting>& among = s.measurements().at(0).among;
  BOOST_REQUIRE(among.size() == 2u);
  BOOST_TEST(among[0].value.flow() == "{type: x, b: [1, 2]}");
  BOOST_TEST(among[1].value.text == "1.0e-3");
}

BOOST_AUTO_TEST_CASE(errors_say_where) {
  for (const auto& [text, at] : std::map<std::string, std::string>{{"bleu(a/b)", "10"},
                                                                   {"bleu[30-21](a/b) > 1", "11"},
                                                                   {"bleu(a) > 1", "7"},
                                                                   {"bleu > 1", "6"}})
    BOOST_TEST(contains(refusal(text), "at character " + at + " of '"), text);
  for (const std::string wrong : {"bleu[0-3](a/b) > 1",
                                  "bleu(a/) > 1",
                                  "1 > 2 > 3",
                                  "1 >",
                                  "",
                                  "(1 > 2",
                                  "1e999 > 2",
                                  "bleu(a/b) > 010",
                                  "bleu[010](a/b) > 1",
                                  "1 = 2",
                                  "a(best of b=1) > 0",
                                  "a(best where b) > 0",
                                  "a(best where b= ) > 0"})
    BOOST_TEST(refusal(wrong).starts_with("study.yaml:40:12: "), wrong);
  std::string sum = "bleu(best)";
  for (int i = 0; i < 100'000; ++i) sum += " + 1";
  for (const std::string& long_one : {sum + " > 0", std::string(100'000, '(')})
    BOOST_TEST(refusal(long_one).starts_with("study.yaml:40:12: "));
}

BOOST_AUTO_TEST_SUITE_END()
