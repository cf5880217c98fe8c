// Internal to this folder: checked calls, handles, element types.
#pragma once

#include <hdf5.h>
#include <hdf5_hl.h>

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/record/hdf5/hdf5.hpp"

namespace softalign::hdf5 {

void silence();  // disables HDF5's own error output: errors are exceptions
// Returns the reason of the last failure: the entry of HDF5's error stack with a failed system call, or else the
// innermost one. The stack may also have failures of the same call that were expected.
std::string reason();

// Returns the errno in such a text if the system refused a call of HDF5, else 0.
int system_error(const std::string& reason);

// Throws the last failure: std::bad_alloc if the library lacked memory, else MachineError.
[[noreturn]] void fail(const std::string& what);
// Returns whether the last failure has a cause other than the file.
bool is_the_machines_fault();

// Throws std::bad_alloc if the memory that the library needs for a call is not available. A failed allocation
// inside the library may damage its heap (1.10: H5B__node_dest frees uninitialised pointers).
void demand_memory();

// Returns a call's result; throws as `fail` if the call failed.
template <class T>
T check(T result, const std::string& what) {
  if (result < 0) fail(what);
  return result;
}

// The bytes that may still be read of an object, which limits the sizes that a file claims.
class Allowance {
 public:
  explicit Allowance(std::uint64_t bytes) : left_(bytes) {}
  // Throws MachineError if `count` values of `size` bytes exceed it.
  void take(std::uint64_t count, std::size_t size, const std::string& what);

 private:
  std::uint64_t left_;
};

// Collects the names of an iteration by the library, which is in C: no exception may pass through it.
class Names {
 public:
  template <class Info>
  static herr_t add(hid_t, const char* name, const Info*, void* names) {
    try {
      static_cast<Names*>(names)->names_.emplace_back(name);
      return 0;
    } catch (const std::bad_alloc&) {
      static_cast<Names*>(names)->no_memory_ = true;
      return -1;
    }
  }
  // Returns the names, given the iteration's result.
  std::vector<std::string> after(herr_t result, const std::string& what) {
    if (no_memory_) throw std::bad_alloc();
    check(result, what);
    return std::move(names_);
  }

 private:
  std::vector<std::string> names_;
  bool no_memory_ = false;
};

// Returns the result of a query, or its failure, which is the result for a damaged file; throws as `fail` if the system
// failed or memory is short.
template <class T>
T answer(T result, const std::string& what) {
  if (result < 0 && is_the_machines_fault()) fail(what);
  return result;
}

Hdf5Handle property_list(hid_t kind);
Hdf5Handle space(const std::vector<Index>& shape);  // no axes: a single value
Hdf5Handle string_type(std::size_t size);           // UTF-8; H5T_VARIABLE or a number of bytes
Hdf5Handle open_object(hid_t file, const std::string& path);
Hdf5Handle open_dataset(hid_t file, const std::string& path);
bool exists_in(hid_t file, const std::string& path);

std::string parent(const std::string& path);
std::string join(const std::string& group, const std::string& name);

// The type of a number in the file (little-endian) and in memory.
template <class T>
struct ElementType;
template <>
struct ElementType<float> {
  static hid_t file() { return H5T_IEEE_F32LE; }
  static hid_t memory() { return H5T_NATIVE_FLOAT; }
};
template <>
struct ElementType<double> {
  static hid_t file() { return H5T_IEEE_F64LE; }
  static hid_t memory() { return H5T_NATIVE_DOUBLE; }
};
template <>
struct ElementType<std::int32_t> {
  static hid_t file() { return H5T_STD_I32LE; }
  static hid_t memory() { return H5T_NATIVE_INT32; }
};
template <>
struct ElementType<std::int64_t> {
  static hid_t file() { return H5T_STD_I64LE; }
  static hid_t memory() { return H5T_NATIVE_INT64; }
};
template <>
struct ElementType<std::uint8_t> {
  static hid_t file() { return H5T_STD_U8LE; }
  static hid_t memory() { return H5T_NATIVE_UINT8; }
};

std::vector<hsize_t> to_sizes(const std::vector<Index>& v);

// A selection of a block in a dataset's space, and the matching memory space.
struct Block {
  Hdf5Handle file;
  Hdf5Handle memory;
};
Block select(hid_t dataset, const std::vector<Index>& start, const std::vector<Index>& size);

// Writes a text, number, flag, or a list of one of these; see Hdf5Writer::attributes.
void write_attribute(hid_t object, const std::string& name, const JsonObject& value);
void write_attribute(hid_t object, const std::string& name, float value);
// Returns all attributes but those of dimension scales, as a JSON object.
JsonObject read_attributes(hid_t object);
void copy_attributes(hid_t from, hid_t to);  // the same attributes, as stored
// Returns an attribute; nothing if it is missing. Throws MachineError if it is not a T: Index, double or std::string.
template <class T>
std::optional<T> read_attribute_as(hid_t object, const std::string& name);

}  // namespace softalign::hdf5
