#include "framework/data/frame_file.hpp"

#include <algorithm>
#include <span>
#include <variant>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {
namespace {

constexpr const char* kFrames = "frames";
constexpr const char* kLengths = "lengths";
constexpr Index kNumbersAtOnce = 1 << 20;

// Throws unless the file begins as every HDF5 file does: this error is clearer than that of reading a record.
const std::string& checked_path(const std::string& path) {
  constexpr std::string_view kMagic = "\x89HDF\r\n\x1a\n";
  std::string start(kMagic.size(), '\0');
  demand_regular_file(path);
  start.resize(RegularFile(path).read(start.data(), start.size(), 0));
  if (start != kMagic)
    throw DataError("{}: not an HDF5 file; frames are read from the datasets {} and {} of one",
                    path,
                    kFrames,
                    kLengths);
  return path;
}

}  // namespace

DataError FrameFile::fault(const std::string& text) const {
  return DataError("{}: {}", path_, text);
}

FrameFile::FrameFile(const std::string& path, Index size)
    : path_(path), frame_size_(size), hdf5_(checked_path(path), Hdf5Reader::MadeBy::user) {
  for (const char* name : {kFrames, kLengths})
    if (!hdf5_.exists(name) || hdf5_.is_group(name))
      throw fault(fmt::format(
          "no dataset '{}'; '{}' has all arrays, one after the other, and '{}' the length of each",
          name,
          kFrames,
          kLengths));
  const std::vector<Dimension> dims = hdf5_.dims(kFrames);
  if (dims.size() != 2)
    throw fault(fmt::format("'{}' has {}, not 2: frames, and the numbers of a frame",
                            kFrames,
                            dims.size() == 1 ? "1 axis" : fmt::format("{} axes", dims.size())));
  if (dims[1].size != size)
    throw fault(fmt::format(
        "frames of {}, but task.frame_size is {}", counted(dims[1].size, "number"), size));
  if (hdf5_.elements_of(kFrames) != Hdf5Reader::Elements::floats)
    throw fault(fmt::format("'{}' does not have floating-point numbers; write float32", kFrames));
  lengths_ = read_lengths();
  Index start = 0;
  for (Index k = 0; k < this->size(); ++k) {
    if (length(k) == 0) throw fault(fmt::format("array {} is empty", k));
    if (length(k) < 0 || length(k) > dims[0].size - start)
      throw fault(fmt::format("array {} has length {}, but '{}' has {} after the arrays before it",
                              k,
                              length(k),
                              kFrames,
                              counted(dims[0].size - start, "frame")));
    starts_.push_back(start);
    start += length(k);
  }
  starts_.push_back(start);
  if (start != dims[0].size)
    throw fault(fmt::format(
        "'{}' has {} frames, but the {} add up to {}", kFrames, dims[0].size, kLengths, start));
  if (lengths_.empty()) throw fault("no arrays");
}

std::vector<Index> FrameFile::read_lengths() const {
  if (hdf5_.dims(kLengths).size() != 1) throw fault(fmt::format("'{}' is not a list", kLengths));
  if (hdf5_.elements_of(kLengths) != Hdf5Reader::Elements::integers)
    throw fault(fmt::format("'{}' does not have whole numbers", kLengths));
  return std::visit(
      [&](const auto& numbers) -> std::vector<Index> {
        if constexpr (std::is_arithmetic_v<typename std::decay_t<decltype(numbers)>::value_type>)
          return {numbers.begin(), numbers.end()};
        else
          throw fault(fmt::format("'{}' does not have whole numbers", kLengths));
      },
      hdf5_.read(kLengths));
}

std::vector<float> FrameFile::read(Index array) {
  const Index start = starts_[usize(array)], end = start + length(array);
  const Index held = std::ssize(block_) / frame_size_;
  if (start < block_start_ || end > block_start_ + held) {
    const Index most = std::max(length(array), kNumbersAtOnce / frame_size_);
    block_ = hdf5_.read_block(
        kFrames, {start, 0}, {std::min(most, starts_.back() - start), frame_size_});
    block_start_ = start;
  }
  const auto begin = block_.begin() + (start - block_start_) * frame_size_;
  std::vector<float> frames(begin, begin + length(array) * frame_size_);
  try {
    normalise_frames(frames, {.size = frame_size_}, {});
  } catch (const DataError& error) {
    throw fault(fmt::format("array {}: {}", array, error.what()));
  }
  return frames;
}

}  // namespace softalign
