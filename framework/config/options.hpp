// Typed options. A struct lists its options once, in `describe`; that one list parses the YAML,
// rejects unknown keys, writes the resolved spec and prints the help. A default is the member's
// initialiser and stands nowhere else.
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
// Constraints between options are stated behind them, and reported at the position of the one that
// is named:
//
//   v.check("length", shortest <= longest, "give [shortest, longest]");
//
// An option that others leave without effect is not refused: sweeps, and files that extend others,
// pass through such settings. People get a note when it is set to something else than its default:
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
  std::string plugins = {};             // legal strings are words of such plugins; empty: any
  bool required = false;
  bool single = false;        // set by the visitor: the member is a float, values must fit in one
  bool changes_run = true;    // false: no part of a run's identity
  bool qualify_name = false;  // its name says nothing without its block's
};

inline Limits at_least(double low) { return {.low = low}; }
inline Limits positive() { return {.low = 0, .low_open = true}; }
inline Limits between(auto low, auto high) {
  return {.low = static_cast<double>(low), .high = static_cast<double>(high)};
}
inline Limits positive_up_to(double high) { return {.low = 0, .high = high, .low_open = true}; }
inline Limits fraction() { return {.low = 0, .high = 1, .high_open = true}; }  // [0, 1)
inline Limits required() { return {.required = true}; }
// For an option that changes no number of a run: another value makes no other run.
inline Limits not_in_run_id(Limits limits = {}) {
  limits.changes_run = false;
  return limits;
}
// For an option whose name alone says nothing: tables of runs call it by its block's name, too.
inline Limits qualify_name(Limits limits = {}) {
  limits.qualify_name = true;
  return limits;
}
template <class... Names>
Limits one_of(Names... names) {
  return {.names = {std::string(names)...}};
}

// For a list of plugins of a kind: each is written as NAME, as {NAME: {option: value}} or as the word of these
// (plugin_word, config/registry.hpp), which is what the list holds.
inline Limits plugins_of(const char* kind) { return {.plugins = kind}; }

// A file that a spec reads. A relative path is relative to the file that names it (to the working
// directory for an override); the reader makes it absolute. A run's identity holds the SHA-256 of
// the bytes, not the path.
struct InputFile {
  std::string path = {};  // empty: not given
  Position where = {};
  bool parameters_count = false;  // a record, or its run's folder: hashed is what its model learnt
};

// One or several, as `corpus.de` or `[corpus.de, more.de]`. One alone is written and hashed as an
// InputFile is.
using InputFiles = std::vector<InputFile>;

// The double with the float's shortest decimal: 0.1f is written, compared and hashed as 0.1.
inline double widened(float value) { return std::stod(fmt::format("{}", value)); }

class OptionVisitor;

// The options of one plugin, their type erased.
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

// The positions where options were written, by name.
using Places = std::map<std::string, Position, std::less<>>;

// A plugin named in a spec: `score: {type: additive, units: 256}`, or `score: dot` when it has no
// options to set. `options` is filled when the spec is read; an empty `type` is an error there.
struct Choice {
  std::string kind;       // "score", "encoder", ...
  std::string type = {};  // the registered name; the initial value is the default
  std::shared_ptr<AnyOptions> options = {};
  Position where = {};                        // of the type
  std::shared_ptr<const Places> places = {};  // of the options that are given
};

// A plugin that is there or not, named by its option: `diagnostics: {cost: {}}`.
struct OptionalPlugin {
  std::function<std::unique_ptr<AnyOptions>()> fresh;  // its options with their defaults
  std::shared_ptr<AnyOptions> options = {};            // empty: not there
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

  // Checks what must hold between options already visited: where it does not, a reader refuses the spec at the
  // position of option `name`; to other visitors it says nothing.
  void check(std::string_view name, bool holds, const std::string& fault) {
    if (!holds) refuse(name, fault);
  }

  // Notes, where `is`, that option `name`, already visited, has no effect beside the others, and why.
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
  // A nested struct: its options are visited between the two calls, unless enter says there is
  // nothing to visit.
  virtual bool enter(std::string_view name, std::string_view help, const Limits&) = 0;
  virtual void leave() = 0;
  // An optional value: returns whether it is (to be) present; the value itself is visited next when
  // it is.
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
