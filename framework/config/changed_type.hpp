// What becomes of a plugin's options when a more specific source changes its type: the reader's
// half of the rule of merge.hpp.
#pragma once

#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/value.hpp"

namespace softalign {

// Whether an entry was written for another type, which has such an option. `fallback` is the type
// of a block of this kind that names none.
bool was_legal(const Value::Entry& entry, const std::string& kind, const std::string& fallback);

// What of `block`, the options of `choice` at `path`, was kept (`legal`: the options that its type
// has) and what was dropped, with the places; empty when the type did not change.
std::string changed_type_note(const Value& block,
                              const std::string& path,
                              const Choice& choice,
                              const std::string& fallback,
                              const std::vector<std::string>& legal);

}  // namespace softalign
