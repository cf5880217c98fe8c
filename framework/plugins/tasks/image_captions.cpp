// Task image_captions: images made of handwritten digits, described in words (Xu et al. 2015 describe
// photographs). Strips: digits from left to right, "three then seven". Scenes: two digits on a square, "a
// five left of a two" or "a three above a nine". The splits have different digits. A number word is linked
// to the ink of its digit. An image is a sequence of frames of one number, its grey levels from 0 (paper)
// to 16 (ink), column by column from the left, each column from the top; a strip is 8 pixels high, a scene
// `side`. `translate` reads an image as a line of these numbers, separated by spaces.
#include <array>
#include <charconv>
#include <map>

#include "framework/base/types.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/synthetic.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"

namespace softalign {
namespace {

constexpr Index kSide = 8;     // of a digit, in pixels
constexpr Index kLevels = 17;  // 0: paper, 16: ink
// The words of captions; the first ten are the numbers.
constexpr std::array kWords = {"zero",
                               "one",
                               "two",
                               "three",
                               "four",
                               "five",
                               "six",
                               "seven",
                               "eight",
                               "nine",
                               "then",
                               "a",
                               "left",
                               "of",
                               "above"};

struct CaptionOptions {
  InputFile digits;
  std::string layout = "strip";
  SyntheticOptions::Lengths length{{1, 4}, {1, 4}, {1, 4}};
  Index gap = 2;
  Index side = 24;
  SyntheticOptions::Examples examples;
  Index data_seed = 1;

  template <class V>
  void describe(V& v) {
    v("digits",
      digits,
      "one digit per line, plain or gzip: train, dev or test, the digit, 64 grey levels 0..16 row "
      "by row",
      required());
    v("layout", layout, "arrangement of digits in an image", one_of("strip", "scene"));
    v("length", length, "digits per strip, drawn uniformly from [shortest, longest]");
    v("gap", gap, "largest number of empty columns before a digit of a strip", between(0, 100));
    v("side", side, "side of a scene in pixels", between(2 * kSide, 100));
    v("examples", examples, "images in each split");
    v("data_seed",
      data_seed,
      "seed of the images; does not depend on the seed of the run",
      at_least(0));
    v.inactive("length", layout == "scene", "a scene has two digits");
    v.inactive("gap", layout == "scene", "only strips have gaps");
    v.inactive("side", layout == "strip", "only scenes are squares");
    for (const auto* digits_of : {&length.train, &length.dev, &length.test})
      v.check("length",
              layout == "scene" || digits_of->size() != 2 ||
                  (*digits_of)[1] * (kSide + gap) * kSide <= kLongestSentence,
              fmt::format("a strip would have more than {} pixels", kLongestSentence));
  }
};

struct Digit {
  Index number = 0;
  std::array<Index, kSide * kSide> pixels{};  // grey levels, row by row
};

using Digits = std::map<std::string, std::vector<Digit>, std::less<>>;  // by split

// Parses a line of the file: its split, and the digit.
std::pair<std::string, Digit> parse_digit(const TextFile& file, std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  const auto refuse = [&](const char* fault) {
    return DataError("{}:{}: {}", printable(file.path(), kWhole), file.line_number(), fault);
  };
  if (words.size() != 2 + kSide * kSide)
    throw refuse("a line must have train, dev or test, a digit and 64 grey levels");
  if (words[0] != "train" && words[0] != "dev" && words[0] != "test")
    throw refuse("a line begins with train, dev or test");
  const auto read = [&](std::string_view word, Index bound) {
    Index value = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 0 || value >= bound)
      throw refuse("the number must be 0 to 9 and grey levels 0 to 16");
    return value;
  };
  Digit digit{read(words[1], 10), {}};
  for (std::size_t i = 0; i < digit.pixels.size(); ++i)
    digit.pixels[i] = read(words[2 + i], kLevels);
  return {std::string(words[0]), digit};
}

// Throws DataError if a split has no digit, or if two splits have the same digit.
Digits read_digits(const std::string& path) {
  Digits digits;
  std::map<std::array<Index, kSide * kSide>, std::string> split_of;
  TextFile file(path);
  for (std::string line; file.next(line);) {
    const auto [split, digit] = parse_digit(file, line);
    if (const auto [found, is_new] = split_of.emplace(digit.pixels, split);
        !is_new && found->second != split)
      throw DataError("{}:{}: the same image is in {} and in {}",
                      printable(path, kWhole),
                      file.line_number(),
                      found->second,
                      split);
    digits[split].push_back(digit);
  }
  for (const char* split : {"train", "dev", "test"})
    if (!digits.contains(split))
      throw DataError("{}: no digit for {}", printable(path, kWhole), split);
  return digits;
}

class Image {
 public:
  Image(Index width, Index height) : height_(height), pixels_(usize(width * height)) {}

  // Draws a digit with its upper left corner at (x, y), and links its ink to word `word` of the caption.
  void put(const Digit& digit, Index x, Index y, Index word) {
    for (Index i = 0; i < kSide * kSide; ++i) {
      const Index level = digit.pixels[usize(i)];
      const Index at = (x + i % kSide) * height_ + y + i / kSide;
      if (level == 0) continue;
      pixels_[usize(at)] = static_cast<float>(level);
      links_.push_back({at, word, true});
    }
  }
  std::span<const float> pixels() const { return pixels_; }  // column by column
  std::span<const Link> links() const { return links_; }

 private:
  Index height_;
  std::vector<float> pixels_;
  std::vector<Link> links_;
};

// The random numbers of one example, in order.
class Numbers {
 public:
  Numbers(const RandomStream& stream, std::uint64_t example) : stream_(stream), example_(example) {}
  Index between(Index low, Index high) {  // both included
    return low + stream_.below(static_cast<std::uint32_t>(high - low + 1), next_++, example_);
  }
  const Digit& one_of(const std::vector<Digit>& digits) {
    return digits[usize(between(0, std::ssize(digits) - 1))];
  }

 private:
  const RandomStream& stream_;
  std::uint64_t example_;
  std::uint64_t next_ = 0;
};

class ImageCaptions final : public Task {
 public:
  using Options = CaptionOptions;
  explicit ImageCaptions(const Options& options) : options_(options) {}

  DataOutline outline() const override {
    const auto split = [&](const char* name, Index examples, const std::vector<Index>& length) {
      const auto digits = drawn_lengths(name, options_.data_seed, examples, length);
      using Lengths = DataOutline::Lengths;
      const Index pixels = options_.side * options_.side, digit = kSide * kSide;
      return DataOutline::SplitOutline{
          .examples = examples,
          .source = is_strip() ? Lengths::even(digit * digits.shortest,
                                               (digit + options_.gap * kSide) * digits.longest)
                               : Lengths::even(pixels, pixels),
          .target = is_strip() ? Lengths::even(2 * digits.shortest - 1, 2 * digits.longest - 1)
                               : Lengths::even(5, 6)};
    };
    return {.target_symbols = kSpecials + std::ssize(kWords),
            .frames = format(),
            .one_vocabulary = false,
            .train = split("train", options_.examples.train, options_.length.train),
            .dev = split("dev", options_.examples.dev, options_.length.dev),
            .test = split("test", options_.examples.test, options_.length.test)};
  }

  void check_files() const override { read_digits(options_.digits.path); }
  Dataset load(std::uint64_t, const Progress&) const override {
    const Digits digits = read_digits(options_.digits.path);
    Dataset data;
    data.target = symbol_vocabulary({kWords.begin(), kWords.end()});
    data.has_links = true;
    const auto fill =
        [&](Split& split, const char* name, const std::vector<Index>& length, Index examples) {
          split.examples = Examples(format());
          const std::vector<Digit>& own = digits.find(name)->second;
          const auto append = [&](const RandomStream& stream, std::uint64_t i) {
            Numbers numbers(stream, i);
            const auto [image, caption] =
                is_strip() ? strip(numbers, own, length) : scene(numbers, own);
            split.examples.append({.target = data.target->encode(caption),
                                   .links = image.links(),
                                   .source_text = line_of_frames(image.pixels()),
                                   .target_text = caption,
                                   .frames = image.pixels()});
          };
          fill_split(split, name, options_.data_seed, examples, append);
        };
    fill(data.train, "train", options_.length.train, options_.examples.train);
    fill(data.dev, "dev", options_.length.dev, options_.examples.dev);
    fill(data.test, "test", options_.length.test, options_.examples.test);
    return data;
  }

 private:
  using Captioned = std::pair<Image, std::string>;

  bool is_strip() const { return options_.layout == "strip"; }
  FrameFormat format() const { return {1, is_strip() ? kSide : options_.side, kLevels - 1}; }

  Captioned strip(Numbers& numbers,
                  const std::vector<Digit>& digits,
                  const std::vector<Index>& length) const {
    struct Placed {
      const Digit* digit;
      Index x;
    };
    std::vector<Placed> placed;
    std::string caption;
    Index width = 0;
    for (Index left = numbers.between(length[0], length[1]); left > 0; --left) {
      const Digit& digit = numbers.one_of(digits);
      const Index x = width + numbers.between(0, options_.gap);
      placed.push_back({&digit, x});
      width = x + kSide;
      caption += caption.empty() ? "" : " then ";
      caption += kWords[usize(digit.number)];
    }
    Image image(width, kSide);
    for (std::size_t k = 0; k < placed.size(); ++k)
      image.put(*placed[k].digit, placed[k].x, 0, 2 * static_cast<Index>(k));
    return {std::move(image), std::move(caption)};
  }

  // The caption begins with the digit on the left or above, so that it is unique. Along the other
  // axis the digits are at most half a digit apart, so that the caption is unambiguous.
  Captioned scene(Numbers& numbers, const std::vector<Digit>& digits) const {
    const Index room = options_.side - kSide;
    const bool beside = numbers.between(0, 1) == 0;
    const Digit &first = numbers.one_of(digits), &second = numbers.one_of(digits);
    const Index along = numbers.between(0, room - kSide);
    const Index along_second = numbers.between(along + kSide, room);
    const Index across = numbers.between(0, room);
    const Index across_second =
        numbers.between(std::max<Index>(0, across - kSide / 2), std::min(room, across + kSide / 2));
    Image image(options_.side, options_.side);
    const Index last = beside ? 5 : 4;  // "a five left of a two", "a three above a nine"
    const auto put = [&](const Digit& digit, Index on, Index off, Index word) {
      image.put(digit, beside ? on : off, beside ? off : on, word);
    };
    put(first, along, across, 1);
    put(second, along_second, across_second, last);
    return {std::move(image),
            fmt::format("a {} {} a {}",
                        kWords[usize(first.number)],
                        beside ? "left of" : "above",
                        kWords[usize(second.number)])};
  }

  Options options_;
};

SOFTALIGN_TASK("image_captions",
               ImageCaptions,
               "handwritten digits in strips or scenes, to be described in words");

}  // namespace
}  // namespace softalign
