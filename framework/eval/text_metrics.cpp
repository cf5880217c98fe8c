#include "framework/eval/text_metrics.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/elementary.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

using Test = bool (*)(char32_t);

// Adds spaces to the matches of a regular expression of two characters, each in a group, from left to right
// without overlap: between the characters, and after the second or before the first.
enum class Spaced { behind_second, before_first };

std::u32string replaced(const std::u32string& text, Test first, Test second, Spaced where) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      out += text[i];
      continue;
    }
    if (where == Spaced::before_first) out += U' ';
    out += text[i];
    out += U' ';
    out += text[i + 1];
    if (where == Spaced::behind_second) out += U' ';
    ++i;
  }
  return out;
}

std::u32string spaced(const std::u32string& text, Test which) {
  std::u32string out;
  for (const char32_t point : text) {
    if (which(point)) out += U' ';
    out += point;
    if (which(point)) out += U' ';
  }
  return out;
}

void replace_all(std::u32string& text, std::u32string_view old, std::u32string_view by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != text.npos; at += by.size())
    text.replace(at, old.size(), by);
}

std::u32string without_end(std::u32string text) {
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return text;
}

std::vector<std::string> words_of(const std::u32string& text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char32_t point : text) {
    const bool space = is_space(point);
    if (!space && !inside) words.emplace_back();
    if (!space) append_utf8(words.back(), point);
    inside = !space;
  }
  return words;
}

// The class [\{-\~\[-\` -\&\(-\+\:-\@\/].
bool is_ascii_mark(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') ||
         (c >= U'(' && c <= U'+') || (c >= U':' && c <= U'@') || c == U'/';
}
bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_no_digit(char32_t c) { return !is_digit(c); }
bool is_stop(char32_t c) { return c == U'.' || c == U','; }
bool is_dash(char32_t c) { return c == U'-'; }
bool is_no_number(char32_t c) { return !is_number(c); }

}  // namespace

std::vector<std::string> tokenise_none(std::string_view utf8) { return unicode_words(utf8); }

std::vector<std::string> tokenise_13a(std::string_view utf8) {
  std::u32string text = without_end(decode_utf8(utf8));
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
  text = spaced(U' ' + text + U' ', is_ascii_mark);
  text = replaced(text, is_no_digit, is_stop, Spaced::behind_second);
  text = replaced(text, is_stop, is_no_digit, Spaced::before_first);
  text = replaced(text, is_digit, is_dash, Spaced::behind_second);
  return words_of(text);
}

std::vector<std::string> tokenise_intl(std::string_view utf8) {
  std::u32string text = without_end(decode_utf8(utf8));
  text = replaced(text, is_no_number, is_punctuation, Spaced::behind_second);
  text = replaced(text, is_punctuation, is_no_number, Spaced::before_first);
  return words_of(spaced(text, is_symbol));
}

std::vector<std::string> tokenise_char(std::string_view utf8) {
  std::vector<std::string> characters;
  for (const char32_t point : decode_utf8(utf8))
    if (!is_space(point)) append_utf8(characters.emplace_back(), point);
  return characters;
}

Tokenise* tokeniser(std::string_view name) {
  if (name == "none") return tokenise_none;
  if (name == "13a") return tokenise_13a;
  if (name == "intl") return tokenise_intl;
  if (name == "char") return tokenise_char;
  throw BugError("no tokenisation '{}'", name);
}

namespace {

// Calls use(code point, bytes) for each character. Each byte of invalid UTF-8 is passed as U+FFFD.
template <class Use>
void each_character(std::string_view utf8, const Use& use) {
  while (!utf8.empty()) {
    const auto [code_point, bytes] = character_at(utf8, 0);
    use(bytes == 0 ? char32_t{0xFFFD} : code_point,
        utf8.substr(0, std::max<std::size_t>(bytes, 1)));
    utf8.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
}

}  // namespace

std::u32string decode_utf8(std::string_view utf8) {
  std::u32string points;
  points.reserve(utf8.size());
  each_character(utf8, [&](char32_t point, std::string_view) { points.push_back(point); });
  return points;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::vector<std::string> unicode_words(std::string_view utf8) {
  std::vector<std::string> words;
  bool inside = false;
  each_character(utf8, [&](char32_t point, std::string_view bytes) {
    const bool space = is_space(point);
    if (!space) {
      if (!inside) words.emplace_back();
      words.back().append(bytes);
    }
    inside = !space;
  });
  return words;
}

namespace {

// Returns all n-grams, sorted by their symbols, with repetitions.
std::vector<std::u32string_view> sorted_ngrams(std::u32string_view symbols, std::size_t n) {
  std::vector<std::u32string_view> ngrams;
  for (std::size_t i = 0; i + n <= symbols.size(); ++i) ngrams.push_back(symbols.substr(i, n));
  std::sort(ngrams.begin(), ngrams.end());
  return ngrams;
}

}  // namespace

NgramCounts count_ngrams(std::u32string_view hypothesis,
                         std::span<const std::u32string> references,
                         int n) {
  const auto ours = sorted_ngrams(hypothesis, usize(n));
  std::vector<std::u32string_view> theirs, shared;
  for (const std::u32string& reference : references) {
    const auto more = sorted_ngrams(reference, usize(n));
    std::vector<std::u32string_view> both;  // std::set_union keeps the larger multiplicity
    std::set_union(
        theirs.begin(), theirs.end(), more.begin(), more.end(), std::back_inserter(both));
    theirs = std::move(both);
  }
  // std::set_intersection keeps the smaller multiplicity.
  std::set_intersection(
      ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(shared));
  return {static_cast<std::int32_t>(ours.size()),
          static_cast<std::int32_t>(theirs.size()),
          static_cast<std::int32_t>(shared.size())};
}

namespace {

// Returns words as numbers, the same for equal words.
std::u32string numbered(std::span<const std::string> words,
                        const std::vector<std::string_view>& sorted) {
  std::u32string numbers;
  for (const std::string& word : words) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), word);
    numbers.push_back(static_cast<char32_t>(place - sorted.begin()));
  }
  return numbers;
}

std::int32_t closest_length(std::int32_t length, std::span<const std::u32string> references) {
  const auto distance = [&](std::int32_t other) {
    return std::pair(std::abs(other - length), other);
  };
  std::optional<std::int32_t> closest;
  for (const std::u32string& reference : references) {
    const auto other = static_cast<std::int32_t>(reference.size());
    if (!closest || distance(other) < distance(*closest)) closest = other;
  }
  return closest.value_or(0);
}

double log_brevity(const BleuSums& sum) { return std::min(0.0, 1 - sum[1] / sum[0]); }

}  // namespace

BleuStats bleu_stats(std::span<const std::string> hypothesis,
                     std::span<const std::vector<std::string>> references) {
  std::vector<std::string_view> words(hypothesis.begin(), hypothesis.end());
  for (const auto& reference : references)
    words.insert(words.end(), reference.begin(), reference.end());
  std::sort(words.begin(), words.end());
  const std::u32string ours = numbered(hypothesis, words);
  std::vector<std::u32string> theirs;
  for (const auto& reference : references) theirs.push_back(numbered(reference, words));

  BleuStats stats{};
  stats[0] = static_cast<std::int32_t>(ours.size());
  stats[1] = closest_length(stats[0], theirs);
  for (int n = 1; n <= kBleuOrder; ++n) {
    const NgramCounts counts = count_ngrams(ours, theirs, n);
    stats[usize(1 + n)] = counts.matched;
    stats[usize(1 + kBleuOrder + n)] = counts.hypothesis;
  }
  return stats;
}

double bleu(const BleuSums& sum) {
  const double* correct = &sum[2];
  const double* total = &sum[2 + kBleuOrder];
  // Every order must have an n-gram in the hypotheses, and at least one must match.
  if (total[kBleuOrder - 1] == 0 || correct[0] == 0) return 0;

  double log_precision = 0;
  double smoothing = 1;  // doubles at each order without a match, as mteval-v13a does
  for (int n = 0; n < kBleuOrder; ++n) {
    const double matches = correct[n] > 0 ? correct[n] : 1 / (smoothing *= 2);
    log_precision += exact::log(matches / total[n]) / kBleuOrder;
  }
  return 100 * exact::exp(log_brevity(sum) + log_precision);
}

double brevity_penalty(const BleuSums& sum) {
  if (sum[0] == 0) return 0;
  return exact::exp(log_brevity(sum));
}

std::string bleu_signature(const std::string& tokenisation) {
  return "nrefs:1|case:mixed|eff:no|tok:" + tokenisation +
         "|smooth:exp|version:softalign-" SOFTALIGN_VERSION;
}

namespace {

std::u32string without_spaces(std::string_view utf8) {
  std::u32string points = decode_utf8(utf8);
  std::erase_if(points, is_space);
  return points;
}

ChrfStats chrf_stats_of(const std::u32string& hypothesis, const std::u32string& reference) {
  ChrfStats stats{};
  for (int n = 1; n <= kChrfOrder; ++n) {
    const NgramCounts counts = count_ngrams(hypothesis, {&reference, 1}, n);
    const std::size_t at = usize(3 * (n - 1));
    stats[at] = counts.reference > 0 ? counts.hypothesis : 0;
    stats[at + 1] = counts.reference;
    stats[at + 2] = counts.matched;
  }
  return stats;
}

constexpr double kBeta2 = 2 * 2;

// Sums over the orders that both sides have.
struct Shares {
  double precision = 0, recall = 0;
  int orders = 0;
};

template <class Counts>
Shares shares_of(const Counts& counts) {
  Shares sum;
  for (std::size_t at = 0; at < counts.size(); at += 3) {
    if (counts[at] == 0 || counts[at + 1] == 0) continue;
    const auto matched = static_cast<double>(counts[at + 2]);
    sum.precision += matched / counts[at];
    sum.recall += matched / counts[at + 1];
    ++sum.orders;
  }
  return sum;
}

// Returns the score rounded as in sacreBLEU, so that the same reference is chosen.
double chrf_of_sentence(const ChrfStats& stats) {
  const auto [precision, recall, orders] = shares_of(stats);
  if (precision + recall == 0) return 0;
  const double p = precision / orders, r = recall / orders;
  return 100 * ((1 + kBeta2) * p * r / (kBeta2 * p + r));
}

}  // namespace

ChrfStats chrf_stats(std::string_view hypothesis, std::string_view reference) {
  return chrf_stats_of(without_spaces(hypothesis), without_spaces(reference));
}

ChrfStats chrf_stats(std::string_view hypothesis, std::span<const std::string_view> references) {
  const std::u32string ours = without_spaces(hypothesis);
  ChrfStats best{};
  double highest = -1;
  for (const std::string_view reference : references) {
    const ChrfStats stats = chrf_stats_of(ours, without_spaces(reference));
    const double score = chrf_of_sentence(stats);
    if (score > highest) best = stats;
    highest = std::max(score, highest);
  }
  return best;
}

double chrf(const ChrfSums& sum) {
  const auto [precision, recall, orders] = shares_of(sum);
  if (precision + recall == 0) return 0;
  return 100 * (1 + kBeta2) * precision * recall / (kBeta2 * precision + recall) / orders;
}

std::string chrf_signature() {
  return "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:softalign-" SOFTALIGN_VERSION;
}

namespace {
constexpr std::string_view kReferences = "nrefs:";
}

std::string with_references(std::string_view signature, std::string_view count) {
  if (!signature.starts_with(kReferences)) return std::string(signature);
  return fmt::format("{}{}|{}", kReferences, count, without_references(signature));
}

std::string_view without_references(std::string_view signature) {
  return signature.starts_with(kReferences) ? signature.substr(signature.find('|') + 1) : signature;
}

std::string count_references(std::span<const std::vector<std::string>> further) {
  std::optional<std::ptrdiff_t> count;
  for (const std::vector<std::string>& all : further) {
    const auto there = 1 + std::ssize(all) - std::ranges::count(all, "");
    if (count.value_or(there) != there) return "var";
    count = there;
  }
  return fmt::format("{}", count.value_or(1));
}

}  // namespace softalign
