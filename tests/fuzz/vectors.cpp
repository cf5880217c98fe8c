// Word vectors for a model. An input is the file.
#include <algorithm>
#include <cmath>

#include "framework/train/starting_point.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/train/small_trainer.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static test::SmallTrainer small;
  InitOptions options;
  options.source_embeddings.path = file("vectors.txt", Input(data, size).rest()).string();
  const auto taken = [&] {
    const std::unique_ptr<Model> model = make_model(small.spec, small.data);
    const std::vector<std::string> notes = warm_start(*model, options, small.data);
    require(notes.size() == 1, "not one note");
    std::vector<std::vector<real>> values;
    for (const Parameter& parameter : model->parameters().all()) {
      values.emplace_back(parameter.value().begin(), parameter.value().end());
      require(std::ranges::all_of(values.back(), [](real x) { return std::isfinite(x); }),
              "a number that is none is taken");
    }
    return values;
  };
  accepts([&] { require(taken() == taken(), "two readings differ"); });
  return 0;
}
