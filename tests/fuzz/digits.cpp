// Files of digits, as the task image_captions reads them: an input is u8 the layout, then the file.
#include "framework/data/task.hpp"
#include "tests/fuzz/fuzz.hpp"

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
    const Dataset read = make_plugin<TaskKind>((is_strip ? strip : scene).spec.task)->load(1, {});
    for (const Split* split : {&read.train, &read.dev, &read.test})
      for (const Example example : split->examples) {
        require(read.source->encode(example.source_text) ==
                    std::vector<Token>(example.source.begin(), example.source.end()),
                "the text of an image is not the image");
        for (const Token token : example.target) read.target->symbol(token);
        for (const Link& link : example.links)
          require(
              link.source < std::ssize(example.source) && link.target < std::ssize(example.target),
              "a link outside its image");
      }
  });
  return 0;
}
