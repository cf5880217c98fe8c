// Files of digits, as read by the task image_captions. An input is u8, the layout, then the file.
#include "framework/data/dataset.hpp"
#include "tests/fuzz/examples.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto spec_of = [](const char* layout) {
    return parse_spec<Spec>(fmt::format("task: {{type: image_captions, digits: digits.txt, layout: "
                                        "{}, examples: {{train: 3, dev: 2, test: 2}}}}\n",
                                        layout),
                            (folder() / "spec.yaml").string());
  };
  Input in(data, size);
  const bool is_strip = in.below(2) == 0;
  file("digits.txt", in.rest());
  static const ResolvedSpec<Spec> strip = spec_of("strip"), scene = spec_of("scene");
  accepts([&] {
    examples_of((is_strip ? strip : scene).spec, [](const Dataset& images, const Example& example) {
      require(frames_of_line(example.source_text, images.frames()) ==
                  std::vector<float>(example.frames.begin(), example.frames.end()),
              "the text of an image is not the image");
    });
  });
  return 0;
}
