#include "framework/app/records/records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "framework/analysis/export_links.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/error.hpp"
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

// Returns words as they are printed, so that columns are aligned by their visible width.
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

  // Returns the source words, written downwards, with their ends on one line.
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

  // Returns the source word with the largest weight if it is in this band; "" for a row without weight.
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
           link + "\nafter each row: its largest weight and the position of it\n";
  }

  const Alignment& a_;
  std::vector<std::string> sources_, targets_;
  std::size_t margin_ = 0;  // columns of the longest target word
  std::size_t behind_ = 0;  // columns after a row
};

// Draws a row for each target word and a column for each source word, whose letters are above it;
// shades are weights, dots are gold links. The source word with the largest weight follows each
// row. A drawing wider than `columns` (0: no limit) is divided into bands of source words.
std::string draw_alignment(const Alignment& alignment, std::size_t columns) {
  return Drawing(alignment).draw(columns);
}

std::string chosen_module(const StoredAlignments& alignments, const std::string& given) {
  const auto modules = alignments.modules();
  if (modules.empty())
    throw SpecError(
        "{}: has no alignments: the model has no attention, or record.alignments and "
        "record.snapshots are 0",
        alignments.file().string());
  if (given.empty()) return default_module(modules, true);
  if (std::find(modules.begin(), modules.end(), given) == modules.end())
    throw SpecError("no alignments are called '{}'{}", given, suggestion(given, modules));
  return given;
}

// Describes the alignments of ascending sentences: "those of sentences 0 to 9".
std::string held(const std::vector<Index>& sentences) {
  if (sentences.empty()) return "none at all";
  const Index first = sentences.front(), last = sentences.back();
  if (first == last) return fmt::format("that of sentence {}", first);
  if (last - first + 1 == std::ssize(sentences))
    return fmt::format("those of sentences {} to {}", first, last);
  return fmt::format("those of {} sentences between {} and {}", sentences.size(), first, last);
}

Alignment newest(const StoredAlignments& alignments,
                 const std::string& module,
                 Index sentence,
                 std::optional<Index> head = {}) {
  const auto all = alignments.sentences(module);
  if (std::find(all.begin(), all.end(), sentence) == all.end())
    throw SpecError("{}: {} has no alignment of sentence {}, but {}",
                    alignments.file().string(),
                    module,
                    sentence,
                    held(all));
  std::vector<Alignment> found = alignments.of_sentence(module, sentence);
  if (found.empty()) throw DataError("{}: sentence {} is empty", module, sentence);
  const Index update = found.back().update;
  for (Alignment& one : found)
    if (one.update == update && one.head == head.value_or(one.head)) return std::move(one);
  throw SpecError("{} has no head {}, but {} to {}",
                  module,
                  head.value_or(0),
                  found.front().head,
                  found.back().head);
}

}  // namespace

void show_sentence(const StoredAlignments& alignments,
                   const std::string& title,
                   const ShownSentence& shown) {
  const Alignment a = newest(
      alignments, chosen_module(alignments, shown.module), shown.number.value_or(0), shown.head);
  const Index line = shown.line_of(a.module, a.sentence);
  if (shown.json) {
    Json json = {{"module", a.module},
                 {"update", a.update},
                 {"sentence", a.sentence},
                 {"head", a.head},
                 {"source", a.source},
                 {"target", a.target},
                 {"weights", a.weights},
                 {"gold", a.gold}};
    if (line > 0) json["line"] = line;
    return print_json(json);
  }
  print_text("{}: {}{}, sentence {}{}, update {}\n\n{}",
             title,
             a.module,
             alignments.heads(a.module).size() > 1 ? fmt::format(", head {}", a.head) : "",
             a.sentence,
             line > 0 ? fmt::format(" (line {})", line) : "",
             a.update,
             draw_alignment(a, terminal_columns(STDOUT_FILENO)));
}

void show_alignment_record(const AlignmentRecord& record, const ShownSentence& shown) {
  const StoredAlignments alignments = record.alignments();
  const std::string title = short_path(record.file());
  if (shown.number) return show_sentence(alignments, title, shown);
  if (alignments.modules().empty())
    throw DataError("{}: has no sentences: none was translated", record.file().string());
  const std::string module = chosen_module(alignments, shown.module);
  const std::vector<Index> sentences = alignments.sentences(module);
  if (shown.json) {
    print_json({{"file", record.file().string()},
                {"run_id", record.run_id()},
                {"created", record.created()},
                {"module", module},
                {"sentences", sentences}});
    return;
  }
  constexpr std::size_t kMost = 20;
  Table table(
      {{"sentence", Side::right}, {"source", Side::left, 12}, {"translation", Side::left, 12}});
  for (std::size_t i = 0; i < std::min(kMost, sentences.size()); ++i) {
    const Alignment a = newest(alignments, module, sentences[i]);
    table.row({fmt::format("{}", a.sentence),
               fmt::format("{}", fmt::join(a.source, " ")),
               fmt::format("{}", fmt::join(a.target, " "))});
  }
  print_text(
      "file      {}: alignments, written by softalign translate {}\n"
      "run       {}\n"
      "matrices  {}; --sentence N draws one\n\n{}",
      title,
      printable(record.created()),
      printable(record.run_id()),
      counted(sentences.size(), "sentence"),
      table.fitted());
  if (sentences.size() > kMost) print_text("and {} more\n", sentences.size() - kMost);
}

}  // namespace softalign::app
