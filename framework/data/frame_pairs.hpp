// Reads the arrays of a split, their targets and the links between them from the files of the task `frames`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/config/options.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/frame_file.hpp"
#include "framework/data/text_file.hpp"

namespace softalign {

// The files of a split.
struct FrameFiles {
  InputFile source;
  InputFile target;
  InputFile alignment;

  template <class V>
  void describe(V& v) {
    v("source", source, "HDF5 file with the datasets `frames` and `lengths`", required());
    v("target",
      target,
      "the targets, line by line, plain or gzip; without them dev or test is translated but not "
      "measured");
    v("alignment",
      alignment,
      "links of frames to words of the target, i-j sure, ipj possible, from 0 (optional)");
    v.check("alignment", has_targets() || !has_links(), "target is missing: links need both sides");
  }
  bool has_targets() const { return !target.path.empty(); }
  bool has_links() const { return !alignment.path.empty(); }
};

// Iterates over a split's pairs. Array k belongs to line k of the text files.
class FramePairs {
 public:
  FramePairs(const FrameFiles& files, Index frame_size);

  // Moves to the next pair without reading its frames; returns false after the last. Throws DataError if the
  // files have different numbers of arrays and lines.
  bool next();

  Index array() const { return array_; }                   // from 0
  Index length() const { return frames_.length(array_); }  // frames
  std::vector<float> frames() { return frames_.read(array_); }
  const std::string& target() const { return line_; }  // empty if there are no targets
  bool has_targets() const { return targets_.has_value(); }
  Index size() const { return frames_.size(); }
  const std::string& path() const { return frames_.path(); }
  const std::string& target_path() const { return targets_->path(); }
  // Returns the links of frames to target words; empty without an alignment. Throws DataError for invalid links.
  std::vector<Link> links() const;

 private:
  void read(std::optional<TextFile>& file, std::string& line, bool more) const;

  FrameFile frames_;
  std::optional<TextFile> targets_, alignment_;
  std::string line_, links_;
  Index array_ = -1;
};

}  // namespace softalign
