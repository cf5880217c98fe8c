// Writes a describable struct: as YAML for people with the origin of every value, as canonical JSON
// for the identity of a run, and as a flat list for tables and diffs. Also the SHA-256 of it all.
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/reader.hpp"

namespace softalign {

// The options of some struct, its type erased.
using Describe = std::function<void(OptionVisitor&)>;

// Over a copy, so that visitors that assign leave `options` alone.
template <class T>
Describe describe_copy(const T& options) {
  if constexpr (std::derived_from<T, AnyOptions>)
    return [copy = std::shared_ptr<AnyOptions>(options.clone())](OptionVisitor& v) {
      copy->describe(v);
    };
  else
    return [copy = options](OptionVisitor& v) mutable { copy.describe(v); };
}

// An option of a describable struct with its value, limits and help, or a block of them: the tree that the
// writers and the help (help.hpp) print.
struct OptionNode {
  using Leaf = std::variant<std::monostate,
                            bool,
                            Index,
                            double,
                            std::string,
                            std::vector<Index>,
                            std::vector<double>,
                            std::vector<std::string>,
                            InputFile,
                            InputFiles,
                            Choice>;

  std::string name;
  std::string path;  // "model.encoder.units"; of the root ""
  std::string help;
  Limits limits;
  bool block = false;     // a nested struct: no value, only children
  bool optional = false;  // null takes its value away
  bool absent = false;    // an optional without a value, an input file or a choice not given
  Leaf value;
  std::vector<OptionNode> children;  // the options of a block or of a choice's plugin
};

// `values` takes down what is there; `schema` also goes into optionals that are absent (the value
// is then the type's own) and not into a choice's plugin.
enum class SnapshotOf { values, schema };

// The root, whose children are the struct's options. Throws SpecError when a choice names a plugin
// that is not registered.
OptionNode snapshot(const Describe& describe, SnapshotOf what);

// "configs/x.yaml:12", "override 1 ('a.b=c')", or "default".
std::string origin_of(const Origins& origins, const std::string& path);

// Every option with its value and, behind it, its origin:
//   units: 256  # configs/x.yaml:12
//   limit: null  # default: no limit
// Read back, it gives the same struct. Options without a value are written as null, required ones
// without a value not at all.
std::string resolved_yaml(const OptionNode& root, const Origins& origins);
// Returns whether a line of such YAML has an option's default.
bool is_default_line(std::string_view line);

// The SHA-256 of what an input file holds, in hexadecimal. All of them throw DataError
// "configs/x.yaml:7:12: /data/train.en: cannot be read: why".
using FileHash = std::function<std::string(const InputFile&)>;
// Hashes a file by `hash`, which knows the path alone.
std::string hash_of(const InputFile& file, std::string (*hash)(const std::filesystem::path&));
// The hash of its bytes.
std::string hash_of_file(const InputFile& file);

// Keys sorted bytewise, no blanks, UTF-8; integers as integers, numbers as number_text writes them
// (so this is Python's json.dumps(sort_keys=True, separators=(",", ":"), ensure_ascii=False)); an
// input file is "sha256:<hex>"; a plugin is its options with its "type". Options without a value
// are left out, so that a new optional option changes no old identity; so are those that make no
// other run (not_in_run_id).
std::string canonical_json(const OptionNode& root, const FileHash& hash = hash_of_file);

std::string identity(const std::string& canonical_json);  // SHA-256, 64 hexadecimal digits
std::string run_id(const std::string& identity);          // its first 16

struct OptionLeaf {
  std::string path;    // "model.encoder.units"; a plugin's name is at "model.encoder.type"
  std::string value;   // as YAML, lists as [a, b]
  std::string origin;  // as origin_of
};

// In the order described.
std::vector<OptionLeaf> option_leaves(const OptionNode& root, const Origins& origins = {});

// The value of a leaf as YAML.
std::string leaf_text(const OptionNode::Leaf& value);

// The functions above for a struct with a describe, or for AnyOptions.
template <class T>
OptionNode values_of(const T& options) {
  return snapshot(describe_copy(options), SnapshotOf::values);
}
template <class T>
std::string resolved_yaml(const T& options, const Origins& origins = {}) {
  return resolved_yaml(values_of(options), origins);
}
template <class T>
std::string canonical_json(const T& options, const FileHash& hash = hash_of_file) {
  return canonical_json(values_of(options), hash);
}
template <class T>
std::vector<OptionLeaf> option_leaves(const T& options, const Origins& origins = {}) {
  return option_leaves(values_of(options), origins);
}

// The fault when a plugin's defaults are written, read again and written again, or "" when there is none:
// options described twice or without help, illegal names, defaults out of their own limits, values that change
// on the way. Required options have no default and are left out.
std::string round_trip_fault(const AnyOptions& options);

}  // namespace softalign
