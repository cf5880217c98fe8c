#include "framework/data/frame_pairs.hpp"

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/data/text.hpp"

namespace softalign {

FramePairs::FramePairs(const FrameFiles& files, Index frame_size)
    : frames_(files.source.path, frame_size) {
  if (files.has_targets()) targets_.emplace(files.target.path);
  if (files.has_links()) alignment_.emplace(files.alignment.path);
}

bool FramePairs::next() {
  const bool more = ++array_ < frames_.size();
  read(targets_, line_, more);
  read(alignment_, links_, more);
  return more;
}

void FramePairs::read(std::optional<TextFile>& file, std::string& line, bool more) const {
  line.clear();
  if (!file || file->next(line) == more) return;
  while (file->next(line)) {
  }
  throw DataError("{} has {}, but {} has {}; line k belongs to array k",
                  frames_.path(),
                  counted(frames_.size(), "array"),
                  file->path(),
                  counted(file->line_number(), "line"));
}

std::vector<Link> FramePairs::links() const {
  if (!alignment_) return {};
  return parse_links(
      links_, length(), std::ssize(split_words(line_)), alignment_->path(), array_ + 1, "frames");
}

}  // namespace softalign
