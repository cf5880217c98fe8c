// Operations on images against finite differences, and the encoder image_grid against numbers of
// tests/reference/encoder_image_grid.py, which implements its definition.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <vector>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/ops/ops.hpp"
#include "framework/seq/encoder.hpp"
#include "tests/message.hpp"

using namespace softalign;

namespace {

using Inputs = std::vector<Var>;

std::vector<double> numbers(const char* name, Index count) {
  const RandomStream stream(7, name);
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) values.push_back(stream.normal(static_cast<std::uint64_t>(i)));
  return values;
}

void check(const std::vector<Shape>& shapes, const std::function<Var(const Inputs&)>& f) {
  const char* names[] = {"images", "filters", "bias"};
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    values.push_back(numbers(names[i], shapes[i].size()));
  std::vector<View> views;
  for (std::size_t i = 0; i < shapes.size(); ++i) views.push_back({values[i].data(), shapes[i]});
  const GradientCheck result =
      check_gradients([&](Tape&, const Inputs& x) { return Inputs{f(x)}; }, views, nullptr, 1000);
  BOOST_TEST_CONTEXT(result.where) { BOOST_TEST(result.worst < 1e-5); }
  BOOST_TEST(result.checked > 0);
}

const std::vector<Index> kWidths = {5, 4, 1};

// Element k of parameter q is 0.4 sin(1.7 k + q), as in the script.
void fill(ParameterStore& store) {
  store.allocate(1);
  double q = 0;
  for (const Parameter& parameter : store.all()) {
    const View value = parameter.value();
    for (Index k = 0; k < value.size(); ++k)
      value.data[k] = 0.4 * std::sin(1.7 * static_cast<double>(k) + q);
    ++q;
  }
}

// The script's network, unless options say otherwise.
struct Grid {
  ParameterStore store;
  std::unique_ptr<Encoder> encoder;

  explicit Grid(
      const std::string& options = "height: 5, channels: [2, 3], convolutions: 2, columns: 4") {
    struct WithEncoder {
      Choice encoder{.kind = "encoder"};
      void describe(OptionVisitor& v) { v("encoder", encoder, "what makes annotations"); }
    };
    const auto spec =
        parse_spec<WithEncoder>("encoder: {type: image_grid, " + options + "}", "x.yaml").spec;
    encoder = make_plugin<EncoderKind>(spec.encoder, Parameters(store), 7);
    fill(store);
  }

  Annotations encode(Tape& tape,
                     const std::vector<float>& frames,
                     const std::vector<Index>& lengths) {
    return encoder->encode({{}, lengths, {}, frames, &tape});
  }
};

// The script's images as a batch, with their padding.
std::vector<float> images(const std::vector<Index>& widths, float padding) {
  const Index height = 5, steps = widths[0] * height;
  std::vector<float> frames(widths.size() * usize(steps), padding);
  for (std::size_t b = 0; b < widths.size(); ++b) {
    float* row = frames.data() + static_cast<Index>(b) * steps;
    for (Index i = 0; i < widths[b] * height; ++i) {
      const Index x = i / height, y = i % height;
      row[i] = static_cast<float>((3 * x + 5 * y + 7 * static_cast<Index>(b) + x * y) % 17);
    }
  }
  return frames;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_grid)

BOOST_AUTO_TEST_CASE(gradients_of_images) {
  for (const Index side : {1, 3, 5})
    check({{3, 5, 4, 2}, {side, side, 2, 3}, {3}},
          [](const Inputs& x) { return conv2d(x[0], x[1], x[2], kWidths); });
  check({{3, 5, 3, 2}}, [](const Inputs& x) { return max_pool2d(x[0], kWidths); });
  check({{3, 4, 2}}, [](const Inputs& x) {
    return linear(reshape(x[0], {6, 4}), reshape(x[0], {4, 6}));
  });
}

BOOST_AUTO_TEST_CASE(annotations_are_those_of_the_definition) {
  const std::vector<std::vector<double>> states = {{0.907222864322,
                                                    -0.120394969407,
                                                    -0.433973080445,
                                                    0.790682972915,
                                                    0.216381583266,
                                                    -0.350955807127,
                                                    1.135946108940,
                                                    0.241917055570,
                                                    -0.757981812453,
                                                    0.802416936396,
                                                    0.559274944883,
                                                    -0.674964539135},
                                                   {0.874390829451,
                                                    -0.083394842636,
                                                    -0.433973080445,
                                                    0.719770694253,
                                                    0.283870865907,
                                                    -0.350955807127}};
  const std::vector<std::vector<double>> means = {
      {0.909067220643, 0.224294653578, -0.554468809790},
      {0.797080761852, 0.100238011635, -0.392464443786}};
  Grid grid;
  BOOST_TEST(grid.encoder->size() == 3);
  BOOST_TEST(grid.encoder->start_size() == 3);
  BOOST_TEST((grid.encoder->reads() == Encoder::Reads::frames));
  Tape tape(Tape::Mode::infer);
  const std::vector<Index> lengths = {30, 15};
  for (const float padding : {0.0F, 99.0F}) {
    const std::vector<float> frames = images({6, 3}, padding);
    const Annotations a = grid.encode(tape, frames, lengths);
    BOOST_TEST((a.states.shape() == Shape{2, 4, 3}));
    for (std::size_t b = 0; b < 2; ++b) {
      BOOST_TEST(a.lengths[b] * 3 == std::ssize(states[b]));
      const double* row = a.states.value().data + static_cast<Index>(b) * 12;
      for (std::size_t i = 0; i < states[b].size(); ++i)
        BOOST_TEST(std::abs(row[i] - states[b][i]) < 1e-11);
      for (std::size_t i = 0; i < 3; ++i)
        for (Var mean : {a.last, a.start})
          BOOST_TEST(std::abs(mean.value().data[3 * b + i] - means[b][i]) < 1e-11);
    }
  }
}

// Computed by hand: cells of 4 x 4 pixels, 2 down an image of 5 pixels, column by column.
BOOST_AUTO_TEST_CASE(pixels_belong_to_cells) {
  const Grid grid;
  BOOST_TEST((grid.encoder->frames() == FrameFormat{1, 5, 16}));
  BOOST_TEST(grid.encoder->positions(30) == 4);
  BOOST_TEST(grid.encoder->positions(4 * 5) == 2);
  BOOST_TEST(grid.encoder->positions(9 * 5) == 6);
  BOOST_TEST(grid.encoder->position_of(0) == 0);
  BOOST_TEST(grid.encoder->position_of(3 * 5 + 3) == 0);
  BOOST_TEST(grid.encoder->position_of(3 * 5 + 4) == 1);
  BOOST_TEST(grid.encoder->position_of(4 * 5 + 0) == 2);
  BOOST_TEST(grid.encoder->position_of(8 * 5 + 4) == 5);
}

BOOST_AUTO_TEST_CASE(what_is_no_image_is_refused) {
  Grid grid;
  Tape tape(Tape::Mode::infer);
  const auto refusal = [&](Index length, float pixel = 5) {
    const std::vector<float> frames(usize(length), pixel);
    return test::message_of<DataError>([&] { grid.encode(tape, frames, {length}); });
  };
  BOOST_TEST(refusal(8 * 5) == "accepted");
  for (const Index pixels : {0, 7}) BOOST_TEST(refusal(pixels) != "accepted");
  BOOST_TEST(refusal(17 * 5) == "accepted");  // columns beyond the last embedding share it
  for (const float pixel : {-0.5F, 17.0F, std::numeric_limits<float>::quiet_NaN()})
    BOOST_TEST(refusal(8 * 5, pixel) != "accepted");
}

BOOST_AUTO_TEST_SUITE_END()
