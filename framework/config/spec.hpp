// From a spec file and overrides to a filled struct: `extends`, merging, overrides, reading.
// Generic over the struct; the experiment's own Spec is written elsewhere.
//
// `extends: base.yaml` or `extends: [a.yaml, b.yaml]`, at the top of a file: the named files,
// relative to the one that names them, are laid over each other in order, and the file over them
// all (merge.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "framework/config/override.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"

namespace softalign {

// A spec before it is read: all files merged, overrides applied.
struct SpecTree {
  Value root;                      // a map
  std::vector<std::string> notes;  // what a merge replaced: for people, one line each
};

// named_at: the place that names the file, where there is one. Throws SpecError: what read_yaml refuses, a
// file that is no map, `extends` in a circle.
SpecTree load_tree(const std::filesystem::path& file,
                   const std::vector<Override>& overrides = {},
                   const Position& named_at = {});
// The same from a text (a record's); `name` stands for the file, `extends` is relative to it.
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

// Paths as a spec names them that lies in a folder: they tell little of the machine, and hold for a copy of the
// whole.

// An absolute path relative to a folder, which need not exist yet; a relative one as it is.
std::string relative_path(const std::string& path, const std::filesystem::path& folder);

// The same for input files and for the files that options come from.
void make_relative(OptionNode& root, Origins& origins, const std::filesystem::path& folder);

}  // namespace softalign
