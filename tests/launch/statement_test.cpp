#include "framework/launch/statement.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace softalign;

namespace {

const Position kHere{"study.yaml", 40, 12};

std::string refusal(const std::string& text) {
  try {
    Statement statement(text, kHere);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "accepted";
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

BOOST_AUTO_TEST_CASE(errors_say_where_and_what) {
  BOOST_TEST(refusal("bleu(a/b)") ==
             "study.yaml:40:12: expected a comparison (< <= > >=) at character 10 of 'bleu(a/b)', "
             "where it ends");
  BOOST_TEST(refusal("bleu[30-21](a/b) > 1") ==
             "study.yaml:40:12: expected rising lengths, from 1 at character 11 of "
             "'bleu[30-21](a/b) > 1', before '](a/b) > 1'");
  BOOST_TEST(refusal("bleu[0-3](a/b) > 1").find("from 1") != std::string::npos);
  BOOST_TEST(refusal("bleu(a) > 1").find("expected '/' at character 7") != std::string::npos);
  BOOST_TEST(refusal("bleu > 1").find("expected '(' at character 6") != std::string::npos);
  BOOST_TEST(refusal("bleu(a/) > 1").find("expected a name") != std::string::npos);
  BOOST_TEST(refusal("1 > 2 > 3").find("expected nothing more") != std::string::npos);
  BOOST_TEST(refusal("1 >").find("expected a number, '('") != std::string::npos);
  BOOST_TEST(refusal("").find("expected a number, '('") != std::string::npos);
  BOOST_TEST(refusal("(1 > 2").find("expected ')'") != std::string::npos);
  BOOST_TEST(refusal("1e999 > 2").find("expected a number") != std::string::npos);
  BOOST_TEST(refusal("1 = 2").find("expected a comparison") != std::string::npos);
  const std::string deep(100000, '(');
  BOOST_TEST(refusal(deep).find("at most 64 nested") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
