// The options of a struct or a plugin, for people: what `softalign describe` prints.
#pragma once

#include <string>
#include <vector>

#include "framework/config/writer.hpp"

namespace softalign {

struct OptionHelp {
  std::string path;  // "early_stopping.patience"
  std::string type;  // "integer", "list of numbers", "score" (a plugin's kind), "block", ...
  std::string default_value;  // as YAML; "required", or "null" if absent by default
  std::string legal;          // ">= 1", "one of maxout, tanh", the registered names; may be empty
  std::string help;
  bool required = false;
};

std::vector<OptionHelp> help_of(const Describe& describe);

// Includes the options of absent optional blocks, but not those of the plugins that choices name.
template <class T>
std::vector<OptionHelp> option_help(const T& options) {
  return help_of(describe_copy(options));
}

}  // namespace softalign
