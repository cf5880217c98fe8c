#include "framework/data/text_facts.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "framework/base/text.hpp"

namespace softalign {
namespace {

constexpr std::size_t kExamples = 5;

std::string side_of(const TextFacts& text) {
  return text.option.find(".source") != std::string::npos ? "source" : "target";
}

std::string unknown_note(const TextFacts& text) {
  std::vector<std::string> examples;
  for (const std::string& one : text.examples) examples.push_back(printable(one));
  const auto differently = [&](Index known, const char* how) {
    return 2 * known > text.unknown ? fmt::format("; {} of them are known {}", known, how) : "";
  };
  return fmt::format("{}: {} of {} ({:.1f} %), {} of {} are not in the vocabulary: {}{}{}{}",
                     text.option,
                     text.unknown,
                     counted(text.symbols, "symbol"),
                     text.unknown_percent(),
                     text.unknown_types,
                     counted(text.types, "type"),
                     fmt::join(examples, " "),
                     text.unknown_types > std::ssize(examples) ? " ..." : "",
                     differently(text.in_lower_case, "in lower case"),
                     differently(text.with_points, "without their punctuation"));
}

// Returns the numbers of lines in each Unicode form in the training text of a side.
TextFacts training_text(std::span<const TextFacts> texts, const std::string& side) {
  TextFacts all;
  for (const TextFacts& text : texts)
    if (text.option.starts_with("train.") && side_of(text) == side) {
      all.composed += text.composed;
      all.decomposed += text.decomposed;
    }
  return all;
}

}  // namespace

void TextSurvey::add(Index number, std::string_view line, std::span<const Token> tokens) {
  facts_.symbols += std::ssize(tokens);
  for (const Token token : tokens) known_[usize(token)] = true;
  if (std::ranges::count(tokens, kUnknown) > 0) {
    const std::vector<std::string> symbols = vocabulary_.split(line);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] == kUnknown) add_unknown(symbols.at(i));
  }
  const UnicodeForms forms = forms_of(line);
  facts_.composed += forms.composed;
  if (forms.decomposed && facts_.decomposed++ == 0) facts_.first_decomposed = number;
  if (forms.byte_order_mark && facts_.marks++ == 0) facts_.first_mark = number;
}

void TextSurvey::add_unknown(const std::string& symbol) {
  ++facts_.unknown;
  if (unknown_.insert(symbol).second && facts_.examples.size() < kExamples)
    facts_.examples.push_back(symbol);
  constexpr std::string_view kPoints = ".,:;!?\"'()";
  const std::size_t first = symbol.find_first_not_of(kPoints),
                    last = symbol.find_last_not_of(kPoints);
  const auto is_known = [&](std::string_view other) {
    return other != symbol && vocabulary_.id(other) != kUnknown;
  };
  facts_.in_lower_case += is_known(lower_case(symbol));
  if (first != symbol.npos)
    facts_.with_points += is_known(std::string_view(symbol).substr(first, last + 1 - first));
}

TextFacts TextSurvey::facts(std::string option) const {
  TextFacts facts = facts_;
  facts.option = std::move(option);
  facts.unknown_types = std::ssize(unknown_);
  facts.types = facts.unknown_types + std::count(known_.begin() + kSpecials, known_.end(), true);
  return facts;
}

std::vector<std::string> notes_of(std::span<const TextFacts> texts,
                                  std::span<const TextFacts> trained_on) {
  std::vector<std::string> notes;
  for (const TextFacts& text : texts) {
    if (text.unknown > 0) notes.push_back(unknown_note(text));
    if (text.marks > 0)
      notes.push_back(
          fmt::format("{}: {} with a byte order mark inside the text, the first is {}: "
                      "concatenated files have them; remove them",
                      text.option,
                      counted(text.marks, "line"),
                      text.first_mark));
    constexpr const char* kRemedy = "convert all texts to one form, as in uconv -x NFC";
    if (text.decomposed > 0 && text.composed > 0)
      notes.push_back(fmt::format(
          "{}: {} in Unicode form NFC and {} in form NFD, the first is {}: words that look the "
          "same differ; {}",
          text.option,
          counted(text.composed, "line"),
          text.decomposed,
          text.first_decomposed,
          kRemedy));
    const TextFacts train = training_text(trained_on, side_of(text));
    if ((text.decomposed > 0 && train.composed > 0 && train.decomposed == 0) ||
        (text.composed > 0 && train.decomposed > 0 && train.composed == 0))
      notes.push_back(fmt::format(
          "{}: in another Unicode form than the training text ({}, {}): words that look the same "
          "differ; {}",
          text.option,
          text.decomposed > 0 ? "NFD" : "NFC",
          train.decomposed > 0 ? "NFD" : "NFC",
          kRemedy));
  }
  return notes;
}

namespace {

bool is_hangul_syllable(char32_t c) { return c >= 0xac00 && c <= 0xd7a3; }
bool are_hangul_parts(char32_t lead, char32_t vowel) {
  return lead >= 0x1100 && lead <= 0x1112 && vowel >= 0x1161 && vowel <= 0x1175;
}

std::uint64_t pair_of(char32_t base, char32_t mark) { return (std::uint64_t{base} << 32) | mark; }

bool is_composed(char32_t c) {
  return is_hangul_syllable(c) ||
         std::ranges::binary_search(compositions(), c, {}, &Composition::whole);
}

bool compose(char32_t base, char32_t mark) {
  static const std::vector<std::uint64_t> kPairs = [] {
    std::vector<std::uint64_t> pairs;
    for (const Composition& one : compositions()) pairs.push_back(pair_of(one.base, one.mark));
    std::ranges::sort(pairs);
    return pairs;
  }();
  return are_hangul_parts(base, mark) || std::ranges::binary_search(kPairs, pair_of(base, mark));
}

}  // namespace

UnicodeForms forms_of(std::string_view utf8) {
  UnicodeForms forms;
  char32_t before = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const auto byte = static_cast<unsigned char>(utf8[at]);
    if (byte < 0x80) {
      before = byte;
      ++at;
      continue;
    }
    const Character character = character_at(utf8, at);
    const char32_t c = character.code_point;
    forms.composed |= is_composed(c);
    forms.decomposed |= compose(before, c);
    forms.byte_order_mark |= c == 0xfeff;
    before = c;
    at += std::max<std::size_t>(character.bytes, 1);
  }
  return forms;
}

}  // namespace softalign
