// Task image_captions against the file of digits: the positions of digits, their captions, and that no
// split shows a digit image of another split.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/task.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"
#include "shared.hpp"

using namespace softalign;

namespace {

const std::string kDigits = SOFTALIGN_SOURCE_DIR "/experiments/digits/data/digits.txt.gz";
const std::vector<std::string> kWords = {
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};

std::unique_ptr<Task> task(std::map<std::string, std::string> values) {
  values.emplace("digits", kDigits);
  values.emplace("examples.train", "500");
  return task_with("image_captions", std::move(values));
}

Dataset load(std::map<std::string, std::string> values) {
  return task(std::move(values))->load(1, {});
}

using Picture = std::vector<std::string>;  // 64 grey levels in the order of the file, row by row

// Maps every image of the file to its split and digit.
std::map<Picture, std::pair<std::string, std::string>> read_file() {
  std::map<Picture, std::pair<std::string, std::string>> known;
  TextFile file(kDigits);
  for (std::string line; file.next(line);) {
    const auto words = split_words(line);
    known[Picture(words.begin() + 2, words.end())] = {std::string(words[0]), std::string(words[1])};
  }
  return known;
}

// The split and digit of every known image whose ink equals the pixels that a word is linked to. Tries all positions of
// its 8 x 8 box, because the ink of a digit need not touch the edge of the box.
std::set<std::pair<std::string, std::string>> digits_at(
    const Example& example,
    Index word,
    Index height,
    const std::map<Picture, std::pair<std::string, std::string>>& known) {
  const auto levels = split_words(example.source_text);
  const Index width = std::ssize(levels) / height;
  std::vector<std::string> own(levels.size(), "0");
  for (const Link& link : example.links)
    if (link.target == word) own[usize(link.source)] = levels[usize(link.source)];
  const auto ink = [](const std::vector<std::string>& pixels) {
    return pixels.size() - usize(std::count(pixels.begin(), pixels.end(), "0"));
  };
  std::set<std::pair<std::string, std::string>> found;
  for (Index left = 0; left + 8 <= width; ++left)
    for (Index top = 0; top + 8 <= height; ++top) {
      Picture picture;
      for (Index y = top; y < top + 8; ++y)
        for (Index x = left; x < left + 8; ++x) picture.push_back(own[usize(x * height + y)]);
      if (const auto at = known.find(picture); at != known.end() && ink(picture) == ink(own))
        found.insert(at->second);
    }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_captions)

BOOST_AUTO_TEST_CASE(strips_say_their_digits_from_left_to_right) {
  const auto known = read_file();
  BOOST_TEST(known.size() == 1797u);
  BOOST_TEST(task({})->outline().frames.height == 8);
  for (const std::string gap : {"0", "2"}) {
    const Dataset data = load({{"gap", gap}});
    BOOST_TEST(data.has_links);
    BOOST_TEST(!data.source);
    BOOST_TEST((data.frames() == FrameFormat{1, 8, 16}));
    std::set<std::size_t> counts;
    for (const Split* split : {&data.train, &data.dev, &data.test})
      for (const Example example : split->examples) {
        const auto words = split_words(example.target_text);
        counts.insert((words.size() + 1) / 2);
        if (gap == "0") BOOST_TEST(example.frames.size() == 64 * ((words.size() + 1) / 2));
        BOOST_TEST(frames_of_line(example.source_text, data.frames()) ==
                   std::vector<float>(example.frames.begin(), example.frames.end()));
        Index before = -1;
        for (std::size_t k = 0; k < words.size(); ++k) {
          if (k % 2 == 1) {
            BOOST_TEST(words[k] == "then");
            continue;
          }
          const auto digits = digits_at(example, static_cast<Index>(k), 8, known);
          BOOST_REQUIRE(digits.size() == 1u);
          BOOST_TEST(digits.begin()->first == split->name);
          BOOST_TEST(words[k] == kWords[usize(stoi(digits.begin()->second))]);
          Index first = std::ssize(example.frames), last = -1;
          for (const Link& link : example.links)
            if (link.target == static_cast<Index>(k)) {
              first = std::min(first, link.source / 8);
              last = std::max(last, link.source / 8);
            }
          BOOST_TEST(first > before);
          before = last;
        }
      }
    BOOST_TEST((counts == std::set<std::size_t>{1, 2, 3, 4}));
  }
}

BOOST_AUTO_TEST_CASE(scenes_say_what_is_left_or_above) {
  const auto known = read_file();
  BOOST_TEST(task({{"layout", "scene"}, {"side", "20"}})->outline().frames.height == 20);
  const Dataset data = load({{"layout", "scene"}});
  std::map<std::string, int> relations;
  for (const Split* split : {&data.train, &data.dev, &data.test})
    for (const Example example : split->examples) {
      const auto words = split_words(example.target_text);
      BOOST_REQUIRE(example.frames.size() == 24u * 24);
      const bool beside = words[2] == "left";
      BOOST_REQUIRE(words.size() == (beside ? 6u : 5u));
      BOOST_TEST(std::string(example.target_text) ==
                 fmt::format("a {} {} a {}", words[1], beside ? "left of" : "above", words.back()));
      ++relations[beside ? "left" : "above"];
      std::array<Index, 2> low{24, 24}, high{-1, -1};  // of the first and the last digit's ink
      for (const std::size_t k : {std::size_t{1}, words.size() - 1}) {
        const auto digits = digits_at(example, static_cast<Index>(k), 24, known);
        BOOST_REQUIRE(!digits.empty());
        BOOST_TEST(digits.begin()->first == split->name);
        BOOST_TEST(words[k] == kWords[usize(stoi(digits.begin()->second))]);
        for (const Link& link : example.links)
          if (link.target == static_cast<Index>(k)) {
            const Index at = beside ? link.source / 24 : link.source % 24;
            low[k == 1 ? 0 : 1] = std::min(low[k == 1 ? 0 : 1], at);
            high[k == 1 ? 0 : 1] = std::max(high[k == 1 ? 0 : 1], at);
          }
      }
      BOOST_TEST(high[0] < low[1]);
    }
  BOOST_TEST(relations["left"] > 800);
  BOOST_TEST(relations["above"] > 800);
}

BOOST_AUTO_TEST_CASE(a_file_that_holds_no_digits_is_refused_with_its_line) {
  const Scratch folder;
  const auto fault = [&](const std::string& bytes) {
    const std::string path = folder.write("digits", bytes);
    const std::string message = message_of<DataError>([&] { load({{"digits", path}}); });
    BOOST_TEST(message.starts_with(path));
    return message.substr(path.size());
  };
  const auto line = [](const std::string& start, const std::string& level) {
    std::string text = start;
    for (int i = 0; i < 64; ++i) text += " " + level;
    return text + "\n";
  };
  BOOST_TEST(fault(line("train 3", "4") + "train 3 1\n").starts_with(":2: "));
  BOOST_TEST(fault(line("trein 3", "4")).starts_with(":1: "));
  BOOST_TEST(fault(line("train 10", "4")).starts_with(":1: "));
  BOOST_TEST(fault(line("train 1", "17")).starts_with(":1: "));
  BOOST_TEST(fault(line("train 1", "2") + line("test 1", "2")).starts_with(":2: "));
  BOOST_TEST(fault(line("train 1", "2") + line("test 1", "3")) == ": no digit for dev");
}

BOOST_AUTO_TEST_SUITE_END()
