// The plugin registry: maps kind ("score") and name ("additive") to options and factory. Plugins
// register themselves before main; registering never throws: duplicates, and plugins built for
// another program, become errors for main to report. Plugins are ordered by name, not by link order.
//
// A kind is a tag type; its contract is declared beside the interface:
//
//   struct ScoreKind {
//     static constexpr const char* name = "score";
//     using Make = std::unique_ptr<Score>(Parameters&, ScoreSizes);   // the spec's options come last
//   };
//   SOFTALIGN_PLUGIN(ScoreKind, "cosine", Cosine, "scaled cosine similarity");
//
// The class has a nested `Options` and a constructor (Parameters&, ScoreSizes, const Options&).
#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/config/options.hpp"

// The tag that a loaded plugin must share with the program: compiler ABI, scalar type and the layout of the shared
// types. Every object that registers a plugin contains the tag as text; the loader reads it from the file before it
// runs any code of the file.
#define SOFTALIGN_TEXT_(x) #x
#define SOFTALIGN_TEXT(x) SOFTALIGN_TEXT_(x)

#define SOFTALIGN_API_VERSION 15

#ifdef SOFTALIGN_DOUBLE
#define SOFTALIGN_REAL "double"
#else
#define SOFTALIGN_REAL "float"
#endif

#define SOFTALIGN_ABI_TAG \
  "softalign-abi{api=" SOFTALIGN_TEXT(SOFTALIGN_API_VERSION) ";real=" SOFTALIGN_REAL \
  ";cxx11_abi=" SOFTALIGN_TEXT(_GLIBCXX_USE_CXX11_ABI) ";gxx_abi=" SOFTALIGN_TEXT(__GXX_ABI_VERSION) \
  ";pointer=" SOFTALIGN_TEXT(__SIZEOF_POINTER__) "}"

namespace softalign {

[[gnu::used]] static const char abi_tag[] = SOFTALIGN_ABI_TAG;

struct PluginEntry {
  std::string kind;
  std::string name;
  std::string summary;                                   // one line
  std::string source;                                    // the file that registered it
  std::function<std::unique_ptr<AnyOptions>()> options;  // fresh, with the defaults
  std::any factory;                                      // Factory<Kind::Make>
};

// Returns whether a name consists of letters, digits, '_' and '-', as names in specs, tables and records must.
bool is_plugin_name(std::string_view name);

class Registry {
 public:
  static Registry& instance();

  void add(PluginEntry entry) noexcept;
  // Throws SpecError naming the nearest legal name; the message begins with `where` if that names a
  // file.
  const PluginEntry& find(std::string_view kind,
                          std::string_view name,
                          const Position& where = {}) const;
  const PluginEntry* find_if_present(std::string_view kind, std::string_view name) const;
  std::vector<std::string> kinds() const;
  std::vector<const PluginEntry*> entries(std::string_view kind) const;  // by name
  const std::vector<std::string>& errors() const {
    return errors_;
  }  // rejected plugins, and why, for main to report

 private:
  std::map<std::string, std::map<std::string, PluginEntry>, std::less<>> entries_;
  std::vector<std::string> errors_;
};

template <class Signature>
struct Factory;
template <class Interface, class... Args>
struct Factory<std::unique_ptr<Interface>(Args...)> {
  std::function<std::unique_ptr<Interface>(Args..., const AnyOptions&)> make;
  template <class Class>
  static Factory of() {
    static_assert(std::is_base_of_v<Interface, Class>,
                  "the class derives from its kind's interface");
    static_assert(std::is_constructible_v<Class, Args..., const typename Class::Options&>,
                  "the constructor takes what the kind's Make takes, and const Options& behind it");
    return {[](Args... args, const AnyOptions& options) -> std::unique_ptr<Interface> {
      using Options = typename Class::Options;
      return std::make_unique<Class>(static_cast<Args>(args)...,
                                     dynamic_cast<const OptionsOf<Options>&>(options).value);
    }};
  }
};

// Throws the error of a plugin that refuses its options or the other plugins, with the position of the option that
// the message begins with ("initial_state: ...", "decoder.initial_state: ..."), or otherwise of the plugin's name. A
// message that begins with a position is unchanged.
[[noreturn]] void rethrow_at(const Choice& choice, const SpecError& error);

// The message for a plugin whose kind takes other arguments, or has another interface, in this program.
std::string made_otherwise(const PluginEntry& entry);

// Builds the plugin that a spec names, with `choice.options` if the reader has filled them,
// otherwise with the defaults.
template <class Kind, class... Args>
auto make_plugin(const Choice& choice, Args&&... args) {
  const PluginEntry& entry = Registry::instance().find(Kind::name, choice.type, choice.where);
  const auto* factory = std::any_cast<Factory<typename Kind::Make>>(&entry.factory);
  if (!factory) throw SpecError("{}", made_otherwise(entry));
  try {
    if (choice.options) return factory->make(std::forward<Args>(args)..., *choice.options);
    return factory->make(std::forward<Args>(args)..., *entry.options());
  } catch (const SpecError& error) {
    rethrow_at(choice, error);
  }
}

template <class Kind, class Class>
bool register_plugin(const char* name, const char* summary, const char* source) noexcept {
  Registry::instance().add({Kind::name,
                            name,
                            summary,
                            source,
                            [] { return std::make_unique<OptionsOf<typename Class::Options>>(); },
                            Factory<typename Kind::Make>::template of<Class>()});
  return true;
}

#define SOFTALIGN_PLUGIN(Kind, name, Class, summary)      \
  [[maybe_unused]] static const bool registered_##Class = \
      ::softalign::register_plugin<::softalign::Kind, Class>(name, summary, __FILE__)

// A plugin's word is one word for a plugin and its options, used in lists of a spec, tables, records and command
// lines: "bleu", "bleu_13a" for {bleu: {tokenize: 13a}}.
//
// The word is the plugin's name and, in the order in which they are described, the options that differ from their
// defaults: the text of a text option, the name of a flag, the name and value of a whole number ("chrf_beta1").
// Other options have no word.

// Returns the plugin and the options that a word stands for; empty if no registered plugin of the kind has the word.
std::optional<Choice> plugin_of_word(std::string_view kind, std::string_view word);

// Returns the word of a plugin. Throws SpecError if an option that differs from its default has no word.
std::string plugin_word(const Choice& choice);

// Returns a hint for a plugin of another kind, "; 'dot' is a score: write model.attention.score=dot", or "".
std::string hint_for_other_kind(const Choice& choice, const std::string& path);

}  // namespace softalign
