// Writes a describable struct: as YAML for people with the origin of every value, as canonical JSON
// for the run ID, and as a flat list for tables and diffs. Also hashes the JSON with SHA-256.
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

// The options of a struct, type-erased.
using Describe = std::function<void(OptionVisitor&)>;

// Describes a copy, so that visitors that assign do not change `options`.
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
  bool optional = false;  // null removes the value
  bool absent = false;    // an optional without a value, an input file or a choice not given
  Leaf value;
  std::vector<OptionNode> children;  // the options of a block or of a choice's plugin
};

// `values` includes the options that are present; `schema` also includes those of absent optionals
// (with the defaults of the type), but not those of a choice's plugin.
enum class SnapshotOf { values, schema };

// Returns the root, whose children are the struct's options. Throws SpecError if a choice names a
// plugin that is not registered.
OptionNode snapshot(const Describe& describe, SnapshotOf what);

// "configs/x.yaml:12", "override 1 ('a.b=c')", or "default".
std::string origin_of(const Origins& origins, const std::string& path);

// Returns every option with its value, followed by its origin:
//   units: 256  # configs/x.yaml:12
//   limit: null  # default: no limit
// Reading it back gives the same struct. Options without a value are written as null; required
// options and choices without a value are omitted.
std::string resolved_yaml(const OptionNode& root, const Origins& origins);
// Returns whether a line of resolved YAML has an option's default.
bool is_default_line(std::string_view line);

// Returns the SHA-256 of the content of an input file, in hexadecimal. Throws DataError
// "configs/x.yaml:7:12: /data/train.en: cannot be read: why".
using FileHash = std::function<std::string(const InputFile&)>;
// Hashes a file by `hash`, which takes only the path; adds the position to its errors.
std::string hash_of(const InputFile& file, std::string (*hash)(const std::filesystem::path&));
// Hashes the bytes of a file.
std::string hash_of_file(const InputFile& file);

// Keys sorted bytewise, no blanks, UTF-8; integers as integers, numbers as number_text writes them
// (so this is Python's json.dumps(sort_keys=True, separators=(",", ":"), ensure_ascii=False)); an
// input file is "sha256:<hex>"; a plugin is its options with its "type". Options without a value
// are omitted, so that a new optional option changes no existing run ID; so are the options that are
// not_in_run_id.
std::string canonical_json(const OptionNode& root, const FileHash& hash = hash_of_file);

std::string identity(const std::string& canonical_json);  // SHA-256, 64 hexadecimal digits
std::string run_id(const std::string& identity);          // the first 16 digits

struct OptionLeaf {
  std::string path;    // "model.encoder.units"; a plugin's name is at "model.encoder.type"
  std::string value;   // as YAML, lists as [a, b]
  std::string origin;  // from origin_of
};

// Returns the leaves in the order in which options are described.
std::vector<OptionLeaf> option_leaves(const OptionNode& root, const Origins& origins = {});

// Returns the value of a leaf as YAML.
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

// Writes a plugin's defaults, reads them back and writes them again. Returns the fault, or "" if there is none:
// options described twice or without help, illegal names, defaults out of their own limits, values that change on
// the way. Required options have no default and are skipped.
std::string round_trip_fault(const AnyOptions& options);

}  // namespace softalign
