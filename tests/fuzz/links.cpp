// Lines of alignment files.
#include "framework/data/text_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  const Index source = static_cast<Index>(in.below(64)), target = static_cast<Index>(in.below(64));
  const std::string line = in.rest();
  accepts([&] {
    const std::vector<Link> links = parse_links(line, source, target, "a.align", 7);
    std::string text;
    std::vector<Index> words_of_source, words_of_target;
    for (Index i = 0; i < source; ++i) words_of_source.push_back(i);
    for (Index j = 0; j < target; ++j) words_of_target.push_back(j);
    for (const Link& link : links) {
      require(link.source >= 0 && link.source < source && link.target >= 0 && link.target < target,
              "a link outside its sentence");
      text += fmt::format("{}{}{} ", link.source, link.sure ? '-' : 'p', link.target);
    }
    const auto same = [](const std::vector<Link>& a, const std::vector<Link>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Link& x, const Link& y) {
        return x.source == y.source && x.target == y.target && x.sure == y.sure;
      });
    };
    require(same(parse_links(text, source, target, "a.align", 7), links),
            "links read back otherwise");
    require(same(spread_links(links, words_of_source, words_of_target), links),
            "links between words that are symbols differ from those between symbols");
  });
  return 0;
}
