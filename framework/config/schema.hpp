// JSON Schema (draft 7) of describable structs: editors check and complete YAML by it.
#pragma once

#include <string>

#include "framework/base/stored.hpp"
#include "framework/config/writer.hpp"

namespace softalign {

// The schema of a map with these options. Plugins are `#/definitions/<kind>`; in place of any value a reference is
// legal (interpolate.hpp). Nothing is required: the rest may come from a file that this one extends.
JsonObject schema_of(const OptionNode& root);

template <class T>
JsonObject schema_of(const T& options) {
  return schema_of(snapshot(describe_copy(options), SnapshotOf::schema));
}

// The definitions that such a schema refers to: every registered kind with the options of its plugins, and values.
JsonObject schema_definitions();

// A schema with its head and these definitions.
JsonObject whole_schema(const std::string& title, JsonObject schema, JsonObject definitions);

}  // namespace softalign
