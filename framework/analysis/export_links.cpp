#include "framework/analysis/export_links.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/json.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/text_file.hpp"
#include "framework/train/results.hpp"
#include "framework/train/text_results.hpp"

namespace softalign {
namespace {

// The source or target side of the sentences: its vocabulary maps the symbols in a record to tokens.
class SentenceSide {
 public:
  SentenceSide(const Record& record, const char* name) try
      : vocabulary(load_vocabulary(record.text("data", name))) {
  } catch (const DataError& error) {
    throw damaged_record(record.file(), fmt::format("{}: {}", name, error.what()));
  }

  // Without </s>.
  std::vector<Token> tokens(const std::vector<std::string>& names) const {
    std::vector<Token> tokens;
    for (const std::string& name : names)
      if (name != kSpecialNames[kEnd]) tokens.push_back(vocabulary->id(name));
    return tokens;
  }

  std::shared_ptr<const Vocabulary> vocabulary;
};

// Returns the given or the default module. Word-level modules are refused, because links are computed from symbols.
std::string module_of(const Record& record, const std::string& given) {
  const std::vector<std::string> modules = record.alignments().modules();
  if (modules.empty())
    throw SpecError(
        "{}: holds no alignments: the model has no attention, or record.alignments is 0",
        record.file().string());
  const std::string module = given.empty() ? default_module(modules, false) : given;
  if (std::ranges::count(modules, module) == 0 || module.starts_with(kBetweenWords))
    throw SpecError("--module: no alignments between symbols are called '{}'{}",
                    module,
                    suggestion(module, modules));
  if (const AlignmentKind kind = alignment_kind(module);
      kind == AlignmentKind::encoder || kind == AlignmentKind::decoder)
    throw SpecError("--module: {} is the {}'s attention to itself, which links no translation",
                    module,
                    kind == AlignmentKind::encoder ? "source" : "target");
  return module;
}

std::string note_of(const Record& record, const std::string& split, Index kept) {
  const auto count = [&](const char* name) {
    return record.attribute<Index>("data/" + split, name).value_or(0);
  };
  std::string note;
  if (const Index all = count("kept"); kept < all)
    note += fmt::format(
        "note: links of the first {} of {} {} sentences: record.{} says how many a run keeps, and "
        "softalign score --links aligns any text\n",
        kept,
        all,
        split,
        split == "dev" ? "snapshots" : "alignments");
  if (const Index lost = count("dropped_empty") + count("dropped_too_long"); lost > 0)
    note += fmt::format("note: {} of the {} text were skipped; here they are empty lines\n",
                        counted(lost, "line"),
                        split);
  return note;
}

// Returns a line of links for each line of the text; an empty one for each line that was skipped.
std::string padded(const TextLines& lines, const std::vector<std::string>& links) {
  std::string text;
  Index written = 0;
  const auto skip_to = [&](Index line) {
    for (; written < line; ++written) text += "\n";
  };
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i < lines.numbers.size()) skip_to(lines.numbers[i] - 1);
    text += links[i] + "\n";
    ++written;
  }
  if (links.size() == lines.numbers.size()) skip_to(lines.count);
  return text;
}

}  // namespace

ExportedLinks export_links(const Record& record,
                           const std::string& given,
                           std::optional<Index> head,
                           const LinkRule& rule) {
  const std::string module = module_of(record, given);
  if (!record.has("data/source_vocabulary"))
    throw SpecError("{}: the sources are frames, so no words can be linked",
                    record.file().string());
  const SentenceSide source(record, "source_vocabulary"), target(record, "target_vocabulary");
  const StoredAlignments stored = record.alignments();
  const std::vector<Index> heads = stored.heads(module);
  if (head && std::ranges::count(heads, *head) == 0)
    throw SpecError("--head: {} has no head {}, but {}", module, *head, heads.size());
  std::vector<std::string> links;
  stored.each_sentence(module, [&](Index, const std::vector<Alignment>& all) {
    std::string& line = links.emplace_back();
    const auto chosen = std::ranges::find_if(all, [&](const Alignment& one) {
      return one.update == all.back().update && one.head == head.value_or(one.head);
    });
    if (chosen != all.end()) {
      const std::vector<Token> read = source.tokens(chosen->source),
                               written = target.tokens(chosen->target);
      const AlignmentMatrix matrix{
          std::ssize(chosen->target), std::ssize(chosen->source), chosen->weights};
      line =
          links_text(links_of(*source.vocabulary, read, *target.vocabulary, written, matrix, rule));
    }
  });
  const std::string split = split_of(module);
  return {padded(text_lines(record, split), links), note_of(record, split, std::ssize(links))};
}

AlignmentKind alignment_kind(std::string_view module) {
  if (module.starts_with(kBetweenWords)) module.remove_prefix(kBetweenWords.size());
  if (module.starts_with(kOfEncoder)) return AlignmentKind::encoder;
  if (module.starts_with(kOfDecoder)) return AlignmentKind::decoder;
  if (module.find("_dev") != module.npos) return AlignmentKind::dev;
  return module.ends_with("_search") ? AlignmentKind::searched : AlignmentKind::forced;
}

std::string default_module(const std::vector<std::string>& modules, bool words) {
  std::string first;
  for (const std::string& module : modules)
    if (!module.starts_with(kBetweenWords) &&
        (first.empty() ||
         std::pair(alignment_kind(module), module) < std::pair(alignment_kind(first), first)))
      first = module;
  const std::string joined = std::string(kBetweenWords) + first;
  return words && std::ranges::count(modules, joined) > 0 ? joined : first;
}

std::string split_of(std::string_view module) {
  return alignment_kind(module) == AlignmentKind::dev ? "dev" : "test";
}

RowAligns row_aligns_of(const Record& record) {
  const auto identity = read_json<nlohmann::json>(record.identity_json());
  const nlohmann::json::json_pointer place("/evaluate/row_aligns");
  const bool given =
      identity.is_object() && identity.contains(place) && identity.at(place).is_string();
  return row_aligns_of(given ? identity.at(place).get<std::string>() : "");
}

}  // namespace softalign
