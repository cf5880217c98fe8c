// Files of series, as read by the task series. An input is u8, the column, then the file.
#include <algorithm>
#include <cmath>

#include "framework/data/dataset.hpp"
#include "tests/fuzz/examples.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto spec_of = [](const char* column) {
    return parse_spec<Spec>(
        fmt::format("task: {{type: series, file: series.csv, column: {}, history: 2, horizon: 2, "
                    "dev: 2, test: 2, bins: 5}}\n",
                    column),
        (folder() / "spec.yaml").string());
  };
  Input in(data, size);
  const Index column = in.below(3);
  file("series.csv", in.rest());
  static const ResolvedSpec<Spec> specs[] = {spec_of("1"), spec_of("2"), spec_of("level")};
  accepts([&] {
    examples_of(specs[column].spec, [](const Dataset& windows, const Example& example) {
      const std::vector<double> values = windows.target_format().values;
      require(values.size() == usize(kSpecials) + 5 &&
                  std::is_sorted(values.begin() + kSpecials, values.end(), std::less_equal()),
              "the symbols are not rising numbers");
      require(example.frames.size() == 2 && example.target.size() == 2, "a window of another size");
      require(std::ranges::all_of(example.frames, [](float x) { return std::isfinite(x); }),
              "a history that is not finite");
      require(std::ranges::all_of(example.target, [](Token v) { return v >= kSpecials; }),
              "a value without a bin");
    });
  });
  return 0;
}
