#include "framework/data/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/data/text.hpp"

namespace softalign {
namespace {

std::optional<Link> parse_link(std::string_view text) {
  const char* end = text.data() + text.size();
  Link link;
  const auto source = std::from_chars(text.data(), end, link.source);
  if (source.ec != std::errc{} || source.ptr == end || (*source.ptr != '-' && *source.ptr != 'p'))
    return {};
  link.sure = *source.ptr == '-';
  const auto target = std::from_chars(source.ptr + 1, end, link.target);
  if (target.ec != std::errc{} || target.ptr != end) return {};
  return link;
}

std::vector<Link> sorted_once(std::vector<Link> links) {
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::tuple(a.source, a.target, !a.sure) < std::tuple(b.source, b.target, !b.sure);
  });
  const auto last = std::unique(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return a.source == b.source && a.target == b.target;
  });
  links.erase(last, links.end());
  return links;
}

// Returns the first symbol of a word and the first symbol after it; words are in order.
std::pair<Index, Index> symbols_of(Index word, const std::vector<Index>& word_of) {
  const auto range = std::equal_range(word_of.begin(), word_of.end(), word);
  return {range.first - word_of.begin(), range.second - word_of.begin()};
}

}  // namespace

std::vector<Link> parse_links(std::string_view line,
                              Index source_length,
                              Index target_length,
                              const std::string& file,
                              Index number,
                              std::string_view source_unit) {
  std::vector<Link> links;
  for (const std::string_view text : split_words(line)) {
    const std::optional<Link> link = parse_link(text);
    if (!link)
      throw DataError(
          "{}:{}: '{}' is not a link; write i-j (sure) or ipj (possible), positions from 0",
          file,
          number,
          printable(text));
    if (link->source < 0 || link->source >= source_length || link->target < 0 ||
        link->target >= target_length)
      throw DataError("{}:{}: link '{}' is out of range: {} {}, {} target words, from 0",
                      file,
                      number,
                      printable(text),
                      source_length,
                      source_unit,
                      target_length);
    links.push_back(*link);
  }
  return sorted_once(std::move(links));
}

std::string links_text(const std::vector<Link>& links) {
  std::string text;
  for (const Link& link : links)
    text += fmt::format(
        "{}{}{}{}", text.empty() ? "" : " ", link.source, link.sure ? '-' : 'p', link.target);
  return text;
}

std::vector<Link> spread_links(const std::vector<Link>& words,
                               const std::vector<Index>& source_word_of,
                               const std::vector<Index>& target_word_of) {
  std::vector<Link> links;
  for (const Link& word : words) {
    const auto [i_begin, i_end] = symbols_of(word.source, source_word_of);
    const auto [j_begin, j_end] = symbols_of(word.target, target_word_of);
    for (Index i = i_begin; i < i_end; ++i)
      for (Index j = j_begin; j < j_end; ++j) links.push_back({i, j, word.sure});
  }
  return links;
}

}  // namespace softalign
