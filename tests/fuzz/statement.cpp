// Claims of a study.
#include "framework/study/claim.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = Input(data, size).rest();
  const Position where{"study.yaml", 40, 12};
  accepts([&] {
    const Statement statement(text, where);
    std::vector<double> values;
    for (const Measurement& m : statement.measurements()) {
      require(m.shortest <= m.longest && m.part.empty() == m.variant.empty(), m.text);
      require(m.part.empty() || m.among.empty(), m.text);  // neither: the best of all
      require(text.find(m.text) != std::string::npos, "a measurement that nobody wrote: " + m.text);
      values.push_back(static_cast<double>(values.size()) + 0.5);
    }
    const double left = statement.left(values), right = statement.right(values);
    const bool holds = statement.holds(left, right);
    require(!holds || (left == left && right == right), "a number that is none is compared");
    const std::size_t middle = text.find_first_of("<>");
    const Statement again(fmt::format("({}){}", text.substr(0, middle), text.substr(middle)),
                          where);
    require(again.holds(again.left(values), again.right(values)) == holds,
            "parentheses around a side change what it says");
  });
  return 0;
}
