// From a spec file and overrides to a filled struct: `extends`, merging, overrides, reading, and checks of what
// was read. Generic over the struct; the experiment's own Spec is written elsewhere.
//
// `extends: base.yaml` or `extends: [a.yaml, b.yaml]`, at the top of a file: the named files,
// relative to the one that names them, are laid over each other in order, and the file over them
// all (merge.hpp). Values may refer to others: interpolate.hpp.
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
  std::vector<std::string> notes;  // what a merge replaced: for people, one line each
};

// named_at: the position that names the file, where there is one. Throws SpecError: what read_yaml refuses, a
// file that is not a map, `extends` in a circle.
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
// files of another kind, before their keys are called unknown. To load the plugins that a spec
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

// An absolute path relative to a folder, which need not exist yet; a relative one as it is. Such paths tell
// little of the machine, and hold for a copy of the whole.
std::string relative_path(const std::string& path, const std::filesystem::path& folder);

// Makes the paths of input files, and of the files that options come from, relative to a folder.
void make_relative(OptionNode& root, Origins& origins, const std::filesystem::path& folder);

// Checks of a spec that has been read, whose faults are reported together, each at its option.
class Checks {
 public:
  explicit Checks(const Origins& origins) : origins_(origins) {}

  // Returns whether `check` threw no SpecError. One that begins with an option ("train.loss: ...") gets the
  // position of that, or of the block around it, unless it has one.
  bool pass(const std::function<void()>& check);
  // Throws SpecError with a line for each fault, if there were any.
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

  // Throws SpecError with a line for each, in the order of their positions, if there are any.
  void throw_all();

 private:
  struct Fault {
    Position where;
    std::string text;
  };
  std::vector<Fault> list_;
};

// Sets a choice's type, its position and the origin of its type from `score: dot` or `score: {type: dot, ...}`.
// False, with a fault, where the value names no plugin; throws ScalarFault where it cannot.
bool name_plugin(
    Choice& choice, const Value& value, const std::string& path, Origins& origins, Faults& faults);

// The origins of the options of a block, by their paths there. `block` ends in a dot.
Places places_below(const Origins& origins, const std::string& block);

}  // namespace softalign
