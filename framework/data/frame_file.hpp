// Reads arrays of frames from an HDF5 file: `frames`, [sum of T,F] floating-point numbers, is the concatenation of all
// arrays, and `lengths`, [arrays] integers, the T of each. In Python:
//
//   with h5py.File("train.h5", "w") as file:
//       file["frames"] = np.concatenate(arrays).astype("float32")
//       file["lengths"] = [len(array) for array in arrays]
#pragma once

#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/hdf5/hdf5.hpp"

namespace softalign {

// Errors contain the file's path and the index of the array, from 0.
class FrameFile {
 public:
  // Throws DataError if the file does not have this layout, frames do not have `size` numbers, an array is empty,
  // or the lengths do not add up to the number of frames.
  FrameFile(const std::string& path, Index size);

  const std::string& path() const { return path_; }
  Index size() const { return std::ssize(lengths_); }  // arrays
  Index length(Index array) const { return lengths_[usize(array)]; }
  // Returns an array, [T,F]. Throws DataError for numbers that are not finite. Fast if arrays are read in order.
  std::vector<float> read(Index array);

 private:
  DataError fault(const std::string& text) const;
  std::vector<Index> read_lengths() const;

  std::string path_;
  Index frame_size_;
  Hdf5Reader hdf5_;
  std::vector<Index> lengths_;
  std::vector<Index> starts_;  // the first frame of each array; at the end, the number of frames
  std::vector<float> block_;   // contiguous frames from block_start_
  Index block_start_ = 0;
};

}  // namespace softalign
