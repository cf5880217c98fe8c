#include "framework/data/pair_reader.hpp"

#include "framework/base/counted.hpp"
#include "framework/base/error.hpp"
#include "framework/data/alignment_file.hpp"
#include "framework/data/text.hpp"

namespace softalign {
namespace {

Index count_lines(TextFile& file) {
  std::string line;
  while (file.next(line)) {
  }
  return file.line_number();
}

// Both files have been read to the end of the shorter one.
[[noreturn]] void refuse_lengths(TextFile& a, TextFile& b) {
  const Index lines = count_lines(a);
  throw DataError("{} has {} and {} has {}; line k of one must belong to line k of the other",
                  a.path(),
                  counted(lines, "line"),
                  b.path(),
                  count_lines(b));
}

}  // namespace

bool Pair::empty() const {
  return split_words(source).empty() || (translated && split_words(target).empty());
}

PairReader::PairReader(const std::string& source,
                       const std::string& target,
                       const std::string& alignment,
                       MarkedSides marked)
    : source_(source), marked_(marked) {
  if (!target.empty()) target_.emplace(target);
  if (!alignment.empty()) alignment_.emplace(alignment);
}

bool PairReader::next(Pair& pair) {
  const bool more = source_.next(pair.source);
  pair.translated = target_.has_value();
  if (target_ && target_->next(pair.target) != more) refuse_lengths(source_, *target_);
  if (alignment_ && alignment_->next(links_) != more) refuse_lengths(source_, *alignment_);
  pair.line = source_.line_number();
  if (more && marked_.source) check_space_marks(pair.source, source_.path(), pair.line);
  if (more && marked_.target && target_) check_space_marks(pair.target, target_->path(), pair.line);
  if (alignment_ && more)
    pair.links = parse_links(links_,
                             std::ssize(split_words(pair.source)),
                             std::ssize(split_words(pair.target)),
                             alignment_->path(),
                             pair.line);
  return more;
}

}  // namespace softalign
