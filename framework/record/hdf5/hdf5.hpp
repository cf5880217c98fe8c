// The only access to HDF5: a writer that builds a netCDF-4-conformant file in memory, and a reader
// of such files. The layout is defined in publish.hpp and open_record.hpp.
//
// The writer's rules, so that h5py, xarray (both engines) and web viewers read its files:
// a dimension scale on every axis, variable-length UTF-8 strings in datasets, fixed-length ones in
// attributes, no links, no booleans, no compounds, oldest file format, creation order tracked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/record/hdf5/values.hpp"

namespace softalign {

// An HDF5 identifier, closed once.
class Hdf5Handle {
 public:
  using Closer = int (*)(std::int64_t);
  Hdf5Handle() = default;
  Hdf5Handle(std::int64_t id, Closer close) : id_(id), close_(close) {}
  ~Hdf5Handle();
  Hdf5Handle(Hdf5Handle&& other) noexcept;
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
  std::int64_t id() const { return id_; }

 private:
  std::int64_t id_ = -1;
  Closer close_ = nullptr;
};

class Hdf5Reader;

// Paths are "group/subgroup/name"; missing groups are created. Throws MachineError with HDF5's
// reason, BugError if the layout's rules are broken.
class Hdf5Writer {
 public:
  Hdf5Writer();

  void group(const std::string& path);
  // values: row-major. Dimensions of one group with the same name are shared; a dimension without a
  // dataset of its own gets one that counts from 0. A dataset with the name of its only dimension has
  // that dimension's coordinates: write it first.
  void dataset(const std::string& path, const std::vector<Dimension>& dims, const Values& values);
  // Creates an array of float32, all NaN, for write_block. chunk: the shape of the blocks that are
  // stored and compressed together.
  void nan_array(const std::string& path,
                 const std::vector<Dimension>& dims,
                 const std::vector<Index>& chunk);
  void write_block(const std::string& path,
                   const std::vector<Index>& start,
                   const std::vector<Index>& size,
                   const std::vector<float>& values);
  // Writes the members as attributes of a group or dataset; creates a group if there is neither.
  // Strings that are too long for an attribute become datasets of that name in the group.
  void attributes(const std::string& path, const JsonObject& members);
  // Copies a dataset, or a group with its content, as stored in another file.
  void copy(const Hdf5Reader& from, const std::string& path);
  void copy_attributes(const Hdf5Reader& from, const std::string& path);

  const std::map<std::string, std::vector<Index>>& shapes() const { return shapes_; }
  std::string image();  // returns the sealed bytes of the file

 private:
  void create(const std::string& path,
              const std::vector<Dimension>& dims,
              std::int64_t type,
              std::int64_t creation);
  void write(const std::string& path,
             const std::vector<Dimension>& dims,
             const Values& values,
             const Hdf5Handle& creation);
  void attach_scales(const std::string& path, const std::vector<Dimension>& dims);

  Hdf5Handle file_;
  std::map<std::string, std::vector<Index>> shapes_;  // of every dataset written
};

// All functions throw DataError, with file, fault and remedy in one line, if the file is absent, not
// HDF5 or damaged; and MachineError if the machine cannot read it.
class Hdf5Reader {
 public:
  // Selects the error messages: an unreadable record is damaged, a user's file may be of another kind.
  enum class MadeBy { softalign, user };
  explicit Hdf5Reader(const std::filesystem::path& file, MadeBy made_by = MadeBy::softalign);

  bool exists(const std::string& path) const;
  bool is_group(const std::string& path) const;
  std::vector<std::string> children(const std::string& group) const;  // in order of creation
  std::vector<Dimension> dims(const std::string& dataset) const;
  enum class Elements { integers, floats, others };  // of any size
  Elements elements_of(const std::string& dataset) const;
  Values read(const std::string& dataset) const;
  // Reads a block of a float32 dataset.
  std::vector<float> read_block(const std::string& dataset,
                                const std::vector<Index>& start,
                                const std::vector<Index>& size) const;
  // Returns all attributes except those of dimension scales; null for types that no record has.
  JsonObject attributes(const std::string& path) const;
  // Returns an attribute; nothing if it is missing. The file is damaged if it is not a T: Index, double or std::string.
  template <class T>
  std::optional<T> attribute(const std::string& path, const std::string& name) const;

 private:
  friend class Hdf5Writer;  // for copies
  template <class Work>
  auto guarded(const Work& work) const -> decltype(work());
  DataError fault(const std::string& reason) const;

  std::string name_;
  MadeBy made_by_;
  std::uint64_t most_bytes_ = 0;  // of one dataset, in memory
  Hdf5Handle file_;
};

// Returns the error "FILE: damaged: REASON; REMEDY".
DataError damaged_record(const std::filesystem::path& file, const std::string& reason);
// Returns the error of a group, dataset or attribute that is invalid in a record.
DataError damaged_value(const std::filesystem::path& file, const std::string& path);

std::string hdf5_version();  // of the library in use

// A checksum after the end of the HDF5 file, which HDF5 ignores, because its header has the size.
// It detects damage before a library that trusts every byte reads the file.

// Returns the bytes followed by their seal: "SOFTSEAL", u64 number of bytes, u32 CRC-32 (zlib's).
std::string sealed(std::string bytes);

// absent: older files have no seal, and other programs that change a file remove it. broken: the bytes
// have changed since they were sealed.
enum class Seal { absent, whole, broken };

// Throws DataError if the file cannot be read, MachineError if that is a fault of the machine.
Seal seal_of(const std::filesystem::path& file);

}  // namespace softalign
