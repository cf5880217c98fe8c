#include "framework/app/records/show_alignments.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/matrix.hpp"
#include "framework/app/terminal/runs.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/error.hpp"
#include "framework/base/suggest.hpp"

namespace softalign::app {
namespace {

std::string chosen_module(const StoredAlignments& alignments, const std::string& given) {
  const auto modules = alignments.modules();
  if (modules.empty())
    throw SpecError(
        "{}: holds no alignments: the model has no attention, or record.alignments and "
        "record.snapshots are 0",
        alignments.file().string());
  if (given.empty()) {
    const std::string words =
        std::string(kBetweenWords) + modules.front();  // shown rather than pieces of words
    return std::find(modules.begin(), modules.end(), words) == modules.end() ? modules.front()
                                                                             : words;
  }
  if (std::find(modules.begin(), modules.end(), given) == modules.end())
    throw SpecError("no alignments are called '{}'{}", given, suggestion(given, modules));
  return given;
}

// "those of sentences 0 to 9"; ascending.
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
    throw SpecError("{}: {} holds no alignment of sentence {}, but {}",
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
    throw DataError("{}: holds no sentence: none was translated", record.file().string());
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
