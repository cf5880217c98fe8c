// A describable struct taken down as a tree of options with their values, limits and help: what the
// writers (writer.hpp) and the help (help.hpp) print. It looks, it never changes what it looks at.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "framework/config/options.hpp"

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
  bool block = false;   // a nested struct: no value, only children
  bool absent = false;  // an optional without a value, an input file or a choice not given
  Leaf value;
  std::vector<OptionNode> children;  // the options of a block or of a choice's plugin
};

// `values` takes down what is there; `schema` also goes into optionals that are absent (the value
// is then the type's own) and not into a choice's plugin.
enum class SnapshotOf { values, schema };

// The root, whose children are the struct's options. Throws SpecError when a choice names a plugin
// that is not registered.
OptionNode snapshot(const Describe& describe, SnapshotOf what);

}  // namespace softalign
