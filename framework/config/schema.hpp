// JSON Schema (draft 7) of describable structs, with which editors check and complete YAML.
#pragma once

#include <string>

#include "framework/base/stored.hpp"
#include "framework/config/writer.hpp"

namespace softalign {

// Returns the schema of a map with these options. Plugins are `#/definitions/<kind>`; any value may be a reference
// (interpolate.hpp). No option is required, because the others may come from a file that this one extends.
JsonObject schema_of(const OptionNode& root);

template <class T>
JsonObject schema_of(const T& options) {
  return schema_of(snapshot(describe_copy(options), SnapshotOf::schema));
}

// Returns the definitions that schemas refer to: every registered kind with its plugins' options, and references.
JsonObject schema_definitions();

// Returns a complete schema: the head, the schema of a map and its definitions.
JsonObject whole_schema(const std::string& title, JsonObject schema, JsonObject definitions);

}  // namespace softalign
