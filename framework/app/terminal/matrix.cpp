#include "framework/app/terminal/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign::app {
namespace {

constexpr std::size_t kLongestWord = 16;
constexpr std::size_t kCell = 2;  // columns of a cell, about a square

const char* shade(float weight) {
  if (weight < 0.05f) return " ";
  if (weight < 0.25f) return "░";
  if (weight < 0.5f) return "▒";
  return weight < 0.75f ? "▓" : "█";
}

std::string repeated(const char* text, std::size_t count) {
  std::string out;
  while (count-- > 0) out += text;
  return out;
}

// Words as they are printed, so that what is aligned is what is seen.
std::vector<std::string> shown(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) out.push_back(cut(printable(word, kWhole), kLongestWord));
  return out;
}

class Drawing {
 public:
  explicit Drawing(const Alignment& a)
      : a_(a), sources_(shown(a.source)), targets_(shown(a.target)) {
    for (const std::string& word : targets_) margin_ = std::max(margin_, columns_of(word));
    for (const std::string& word : sources_) behind_ = std::max(behind_, columns_of(word) + 7);
  }

  std::string draw(std::size_t columns) const {
    const std::size_t all = a_.source.size();
    const std::size_t frame = margin_ + 4;
    std::size_t band = std::max<std::size_t>(all, 1);
    if (columns > 0 && frame + kCell * all + behind_ > columns)
      band = std::max<std::size_t>(1, (columns - std::min(columns, frame + behind_)) / kCell);
    std::string out;
    for (std::size_t begin = 0; begin < all; begin += band) {
      if (begin > 0) out += '\n';
      out += draw_band(begin, std::min(begin + band, all));
    }
    return out + legend(!a_.gold.empty(), columns);
  }

 private:
  std::string draw_band(std::size_t begin, std::size_t end) const {
    const std::string edge = repeated("─", kCell * (end - begin));
    const std::string indent(margin_ + 1, ' ');
    std::string out = heads(begin, end) + indent + "┌" + edge + "┐\n";
    for (std::size_t t = 0; t < a_.target.size(); ++t) {
      out += aligned(targets_[t], margin_, Side::right) + " │";
      for (std::size_t s = begin; s < end; ++s) out += cell(t, s);
      out += "│" + pointed(t, begin, end) + "\n";
    }
    return out + indent + "└" + edge + "┘\n";
  }

  // The source words, read downwards, their ends on one line.
  std::string heads(std::size_t begin, std::size_t end) const {
    std::vector<std::vector<std::string>> words;
    std::size_t height = 0;
    for (std::size_t s = begin; s < end; ++s) {
      words.push_back(glyphs(sources_[s]));
      height = std::max(height, words.back().size());
    }
    std::string out;
    for (std::size_t line = 0; line < height; ++line) {
      std::string text(margin_ + 2, ' ');
      for (const auto& word : words) {
        const std::size_t above = height - word.size();
        text += aligned(line < above ? "" : word[line - above], kCell);
      }
      out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
  }

  std::string cell(std::size_t t, std::size_t s) const {
    const std::size_t at = t * a_.source.size() + s;
    const char* fill = shade(a_.weights[at]);
    const int link = a_.gold.empty() ? 0 : a_.gold[at];
    return std::string(fill) + (link == 2 ? "●" : link == 1 ? "○" : fill);
  }

  // The source word with the largest weight, in the band where it stands; none of a row without weight.
  std::string pointed(std::size_t t, std::size_t begin, std::size_t end) const {
    const auto row = a_.weights.begin() + static_cast<std::ptrdiff_t>(t * a_.source.size());
    const auto most = std::max_element(row, row + static_cast<std::ptrdiff_t>(a_.source.size()));
    const auto s = usize(most - row);
    if (s < begin || s >= end || *most == 0) return "";
    return fmt::format(" {:.2f} {}", *most, sources_[s]);
  }

  static std::string legend(bool links, std::size_t columns) {
    const std::string weight = "weight: blank < 0.05   ░ < 0.25   ▒ < 0.5   ▓ < 0.75   █ up to 1";
    const std::string link = links ? "link: ● sure   ○ possible" : "";
    const bool fits = columns == 0 || columns_of(weight) + 3 + columns_of(link) <= columns;
    return weight +
           (link.empty() ? ""
            : fits       ? "   "
                         : "\n") +
           link + "\nbehind a row: its largest weight, and where that is\n";
  }

  const Alignment& a_;
  std::vector<std::string> sources_, targets_;
  std::size_t margin_ = 0;  // columns of the longest target word
  std::size_t behind_ = 0;  // columns behind a row
};

}  // namespace

std::string draw_alignment(const Alignment& alignment, std::size_t columns) {
  return Drawing(alignment).draw(columns);
}

}  // namespace softalign::app
