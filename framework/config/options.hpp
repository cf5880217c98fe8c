// Typed options. A struct lists its options once, in `describe`; that one list parses the YAML,
// rejects unknown keys, writes the resolved spec and prints the help. A default is the member's
// initialiser, and nothing else.
//
//   struct Options {
//     Index units = 256;
//     std::string readout = "maxout";
//     template <class V> void describe(V& v) {
//       v("units", units, "hidden units", between(1, kLargestLayer));
//       v("readout", readout, "layer before the softmax", one_of("maxout", "tanh"));
//     }
//   };
//
// Constraints between options are declared after them, and reported at the position of the named
// option:
//
//   v.check("length", shortest <= longest, "give [shortest, longest]");
//
// An option that has no effect beside others is not refused, because sweeps and extending files pass
// through such specs. Users get a note if its value is not the default:
//
//   v.inactive("window", type != "local", "only type local reads it");
//
// Types: bool, Index, real, double, std::string, std::vector of the last four, InputFile,
// InputFiles, structs with a `describe`, std::optional of any of these (null or absent is empty), and
// Choice (a plugin with options of its own; initialise its kind), and OptionalPlugin.
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {

// The values that an option may take (each item of a list), and whether it must be given.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;  // the bound itself is not allowed
  bool high_open = false;
  std::vector<std::string> names = {};  // legal strings; empty: any
  std::string plugins = {};             // kind of plugin that a string must name; empty: any string
  bool required = false;
  bool single = false;        // set by the visitor: the member is a float, values must fit in one
  bool changes_run = true;    // false: not part of the run ID
  bool qualify_name = false;  // the name is unclear without the block's
};

inline Limits at_least(double low) { return {.low = low}; }
inline Limits positive() { return {.low = 0, .low_open = true}; }
inline Limits between(auto low, auto high) {
  return {.low = static_cast<double>(low), .high = static_cast<double>(high)};
}
inline Limits positive_up_to(double high) { return {.low = 0, .high = high, .low_open = true}; }
inline Limits fraction() { return {.low = 0, .high = 1, .high_open = true}; }  // [0, 1)
inline Limits required() { return {.required = true}; }
// For an option that does not affect the numbers of a run: its value is not part of the run ID.
inline Limits not_in_run_id(Limits limits = {}) {
  limits.changes_run = false;
  return limits;
}
// For an option whose name alone is unclear: tables of runs add the name of its block.
inline Limits qualify_name(Limits limits = {}) {
  limits.qualify_name = true;
  return limits;
}
template <class... Names>
Limits one_of(Names... names) {
  return {.names = {std::string(names)...}};
}

// For a list of plugins of a kind, each written as NAME, as {NAME: {option: value}} or as a plugin's word
// (plugin_word, config/registry.hpp). The list holds the words.
inline Limits plugins_of(const char* kind) { return {.plugins = kind}; }

// A file that a spec reads. A relative path is relative to the file that names it (to the working
// directory for an override); the reader makes it absolute. A run's identity holds the SHA-256 of
// the bytes, not the path.
struct InputFile {
  std::string path = {};  // empty: not given
  Position where = {};
  bool parameters_count = false;  // a record or run folder, hashed by its trained parameters
};

// One or several files, as `corpus.de` or `[corpus.de, more.de]`. A single file is written and
// hashed like an InputFile.
using InputFiles = std::vector<InputFile>;

// Returns the double with the float's shortest decimal: 0.1f is written, compared and hashed as 0.1.
inline double widened(float value) { return std::stod(fmt::format("{}", value)); }

class OptionVisitor;

// The options of one plugin, type-erased.
class AnyOptions {
 public:
  virtual ~AnyOptions() = default;
  virtual void describe(OptionVisitor& visitor) = 0;
  virtual std::unique_ptr<AnyOptions> clone() const = 0;
};

template <class T>
class OptionsOf final : public AnyOptions {
 public:
  T value;
  void describe(OptionVisitor& visitor) override { value.describe(visitor); }
  std::unique_ptr<AnyOptions> clone() const override { return std::make_unique<OptionsOf>(*this); }
};

// The positions of options in their files, by name.
using Places = std::map<std::string, Position, std::less<>>;

// A plugin named in a spec: `score: {type: additive, units: 256}`, or `score: dot` when it has no
// options to set. `options` is filled when the spec is read; an empty `type` is an error there.
struct Choice {
  std::string kind;       // "score", "encoder", ...
  std::string type = {};  // the registered name; the initial value is the default
  std::shared_ptr<AnyOptions> options = {};
  Position where = {};                        // of the type
  std::shared_ptr<const Places> places = {};  // of the given options
};

// An optional plugin, named by its option: `diagnostics: {cost: {}}`.
struct OptionalPlugin {
  std::function<std::unique_ptr<AnyOptions>()> fresh;  // returns its options with their defaults
  std::shared_ptr<AnyOptions> options = {};            // empty: the plugin is absent
};

// Walks a struct's options. Readers, writers and the help are its implementations; `describe` sees
// only operator().
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;

  template <class T>
  void operator()(std::string_view name,
                  T& value,
                  std::string_view help,
                  const Limits& limits = {}) {
    visit_any(name, value, help, limits);
  }

  // Checks a constraint on options already visited. If it does not hold, a reader refuses the spec at the position
  // of option `name`; other visitors ignore it.
  void check(std::string_view name, bool holds, const std::string& fault) {
    if (!holds) refuse(name, fault);
  }

  // If `is`, notes that option `name`, already visited, has no effect beside the others, and why.
  void inactive(std::string_view name, bool is, const std::string& why) {
    if (is) note_inactive(name, why);
  }

 protected:
  virtual void refuse(std::string_view, const std::string&) {}
  virtual void note_inactive(std::string_view, const std::string&) {}
  virtual void visit(std::string_view name, bool& value, std::string_view help, const Limits&) = 0;
  virtual void visit(std::string_view name, Index& value, std::string_view help, const Limits&) = 0;
  virtual void visit(std::string_view name,
                     double& value,
                     std::string_view help,
                     const Limits&) = 0;
  virtual void visit(std::string_view name,
                     std::string& value,
                     std::string_view help,
                     const Limits&) = 0;
  virtual void visit(std::string_view name,
                     std::vector<Index>& value,
                     std::string_view help,
                     const Limits&) = 0;
  virtual void visit(std::string_view name,
                     std::vector<double>& value,
                     std::string_view help,
                     const Limits&) = 0;
  virtual void visit(std::string_view name,
                     std::vector<std::string>& value,
                     std::string_view help,
                     const Limits&) = 0;
  virtual void visit(std::string_view name,
                     InputFile& value,
                     std::string_view help,
                     const Limits&) = 0;
  virtual void visit(std::string_view name,
                     InputFiles& value,
                     std::string_view help,
                     const Limits&) = 0;
  virtual void visit(std::string_view name,
                     Choice& value,
                     std::string_view help,
                     const Limits&) = 0;
  // A nested struct: its options are visited between the two calls. If enter returns false, neither
  // the options are visited nor leave is called.
  virtual bool enter(std::string_view name, std::string_view help, const Limits&) = 0;
  virtual void leave() = 0;
  // Returns whether an optional value is present, or will be after reading; the value itself is then
  // visited next.
  virtual bool present(std::string_view name, bool now, std::string_view help, const Limits&) = 0;

 private:
  static Limits single(Limits limits) {
    limits.single = true;
    return limits;
  }

  template <class T>
  void visit_any(std::string_view name, T& value, std::string_view help, const Limits& limits) {
    if constexpr (std::same_as<T, float>) {
      double wide = widened(value);
      visit(name, wide, help, single(limits));
      value = static_cast<float>(wide);
    } else if constexpr (std::same_as<T, std::vector<float>>) {
      std::vector<double> wide;
      for (const float x : value) wide.push_back(widened(x));
      visit(name, wide, help, single(limits));
      value.clear();
      for (const double x : wide) value.push_back(static_cast<float>(x));
    } else if constexpr (requires { value.describe(*this); }) {
      if (enter(name, help, limits)) {
        value.describe(*this);
        leave();
      }
    } else {
      visit(name, value, help, limits);
    }
  }

  void visit_any(std::string_view name,
                 OptionalPlugin& value,
                 std::string_view help,
                 const Limits& limits) {
    if (!present(name, value.options != nullptr, help, limits)) {
      value.options.reset();
      return;
    }
    if (!value.options) value.options = value.fresh();
    if (enter(name, help, limits)) {
      value.options->describe(*this);
      leave();
    }
  }

  template <class T>
  void visit_any(std::string_view name,
                 std::optional<T>& value,
                 std::string_view help,
                 const Limits& limits) {
    if (!present(name, value.has_value(), help, limits)) {
      value.reset();
      return;
    }
    if (!value) value.emplace();
    visit_any(name, *value, help, limits);
  }
};

}  // namespace softalign
