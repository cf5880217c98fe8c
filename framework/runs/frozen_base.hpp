// A list's own copy of a spec that its rows change.
#pragma once

#include "framework/config/snapshot.hpp"
#include "framework/config/spec.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// The spec with its files merged and its paths absolute, without the seed and the name, which are the
// rows'. It knows where everything was written. options: those of the resolved spec.
Value frozen_base(Value tree, const Spec& resolved, const OptionNode& options);

// Replaces the file, or the files, that `written` names by those that the option was read as.
void make_paths_whole(Value& written, const OptionNode& option);

// As YAML: maps in blocks, everything else on one line.
// `comment`: what stands behind the line of an entry.
using Comment = std::function<std::string(const Value::Entry&)>;
std::string block_text(
    const Value& map, const std::string& indent = "", const Comment& comment = [](const auto&) {
      return std::string();
    });

// Throws SpecError when a base spec that a sweep or a study names is not there, or no file.
void check_base(const std::filesystem::path& base, const Position& named_at);

}  // namespace softalign
