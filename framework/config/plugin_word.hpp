// A plugin with its options as one word, by which lists of a spec, tables, records and command lines call it:
// "bleu", "bleu_13a" for {bleu: {tokenize: 13a}}.
//
// It is the plugin's name and, in the order in which they are described, the options that differ from their
// defaults: of a choice the word that is chosen, of a flag its name, of a whole number its name and the number
// ("chrf_beta1"). Other options have no word.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "framework/config/options.hpp"

namespace softalign {

// The plugin and the options that a word stands for; nothing where no registered plugin of the kind has it.
std::optional<Choice> plugin_of_word(std::string_view kind, std::string_view word);

// The word of a plugin. Throws SpecError for options that have none.
std::string plugin_word(const Choice& choice);

// What to write for a plugin of another kind: "; 'dot' is a score: write model.attention.score=dot".
std::string hint_for_other_kind(const Choice& choice, const std::string& path);

}  // namespace softalign
