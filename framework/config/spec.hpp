// From a spec file and overrides to a filled struct: `extends`, merging, overrides, reading, and checks of the
// result. Generic over the struct; the experiment's Spec is defined elsewhere.
//
// `extends: base.yaml` or `extends: [a.yaml, b.yaml]`, at the top of a file: the named files,
// relative to the one that names them, are merged in order, and the file over them all (merge.hpp).
// Values may refer to others: interpolate.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/config/interpolate.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"

namespace softalign {

// A spec before it is read: all files merged, overrides applied.
struct SpecTree {
  Value root;                      // a map
  std::vector<std::string> notes;  // one line for each block that a merge replaced
};

// Loads a file. `named_at` is the position that names the file, if any. Throws SpecError as read_yaml does, and for a
// file that is not a map and for circular `extends`.
SpecTree load_tree(const std::filesystem::path& file,
                   const std::vector<Override>& overrides = {},
                   const Position& named_at = {});
// Like load_tree, for a text (of a record); `name` replaces the file, `extends` is relative to it.
SpecTree parse_tree(const std::string& text,
                    const std::string& name,
                    const std::vector<Override>& overrides = {});

template <class T>
struct ResolvedSpec {
  T spec;
  Origins origins;
  std::vector<std::string> notes;
};

// Reads a tree into a T. A T may have a static `refuse_other(const Value& root)` that throws for
// files of another kind, before their keys are reported as unknown. To load the plugins that a spec
// names first, look them up in `tree.root`.
template <class T>
ResolvedSpec<T> resolve(SpecTree tree, const std::string& what = "the spec") {
  interpolate(tree.root);
  if constexpr (requires { T::refuse_other(tree.root); }) T::refuse_other(tree.root);
  ResolvedSpec<T> resolved;
  ReadResult read = read_options(tree.root, resolved.spec, what);
  resolved.origins = std::move(read.origins);
  resolved.notes = std::move(tree.notes);
  resolved.notes.insert(resolved.notes.end(), read.notes.begin(), read.notes.end());
  return resolved;
}

// `overrides` as on the command line: "model.encoder.units=64", "~train.early_stopping".
template <class T>
ResolvedSpec<T> load_spec(const std::filesystem::path& file,
                          const std::vector<std::string>& overrides = {}) {
  return resolve<T>(load_tree(file, numbered_overrides(overrides)));
}

template <class T>
ResolvedSpec<T> parse_spec(const std::string& text,
                           const std::string& name,
                           const std::vector<std::string>& overrides = {}) {
  return resolve<T>(parse_tree(text, name, numbered_overrides(overrides)));
}

// Returns an absolute path relative to a folder, which need not exist yet; a relative path unchanged. Relative paths
// reveal little about the machine, and remain valid if everything is copied.
std::string relative_path(const std::string& path, const std::filesystem::path& folder);

// Makes the paths of input files, and of the files that options come from, relative to a folder.
void make_relative(OptionNode& root, Origins& origins, const std::filesystem::path& folder);

// Runs checks of a spec that has been read, and reports their faults together, each at its option.
class Checks {
 public:
  explicit Checks(const Origins& origins) : origins_(origins) {}

  // Returns true if `check` passes, false if it throws SpecError. A message that begins with an option ("train.loss:
  // ...") gets the position of the option, or of the block around it, unless it begins with a position.
  bool pass(const std::function<void()>& check);
  // Throws SpecError with a line for each fault, if there are any.
  void finish() const;

 private:
  const Origins& origins_;
  std::vector<std::string> faults_;
};

// The faults of a spec, collected so that all of them are reported at once.
class Faults {
 public:
  // `where` without a file: the fault has no position.
  void add(const Position& where, std::string text) { list_.push_back({where, std::move(text)}); }

  // Throws SpecError with a line for each of the first 20 faults, by position, if there are any.
  void throw_all();

 private:
  struct Fault {
    Position where;
    std::string text;
  };
  std::vector<Fault> list_;
};

// Sets a choice's type, its position and the origin of its type from `score: dot` or `score: {type: dot, ...}`.
// Returns false, with a fault, if `type` is misspelt or not a name; throws ScalarFault for a list or a missing type.
bool name_plugin(
    Choice& choice, const Value& value, const std::string& path, Origins& origins, Faults& faults);

// Returns the origins of a block's options, by their paths within the block. `block` ends in a dot.
Places places_below(const Origins& origins, const std::string& block);

}  // namespace softalign
