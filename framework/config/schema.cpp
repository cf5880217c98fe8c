#include "framework/config/schema.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "framework/config/registry.hpp"
#include "framework/config/value.hpp"

namespace softalign {
namespace {

using Json = JsonObject;

Json reference_to(const std::string& definition) {
  return {{"$ref", "#/definitions/" + definition}};
}

void add_limits(Json& schema, const Limits& limits) {
  if (!limits.names.empty()) schema["enum"] = limits.names;
  if (std::isfinite(limits.low))
    schema[limits.low_open ? "exclusiveMinimum" : "minimum"] = limits.low;
  if (std::isfinite(limits.high))
    schema[limits.high_open ? "exclusiveMaximum" : "maximum"] = limits.high;
}

// Schema of a plugin in a list: NAME, the word of a plugin with options, or {NAME: {option: value}}.
Json plugin_items(const std::string& kind) {
  Json names = Json::array(), maps = Json::object();
  for (const PluginEntry* entry : Registry::instance().entries(kind)) {
    names.push_back(entry->name);
    maps[entry->name] = schema_of(*entry->options());
  }
  return {{"anyOf",
           {{{"enum", names}},
            {{"type", "string"}, {"pattern", "[^a-z0-9_]"}},
            {{"type", "object"}, {"properties", maps}, {"additionalProperties", false}}}}};
}

struct ValueSchema {
  const Limits& limits;

  Json operator()(std::monostate) const { return Json::object(); }
  Json operator()(bool) const { return {{"type", "boolean"}}; }
  Json operator()(Index) const { return limited("integer"); }
  Json operator()(double) const { return limited("number"); }
  Json operator()(const std::string&) const {
    return limits.names.empty() ? Json{{"type", {"string", "number", "boolean"}}}
                                : limited("string");
  }
  Json operator()(const std::vector<Index>&) const { return list(limited("integer")); }
  Json operator()(const std::vector<double>&) const { return list(limited("number")); }
  Json operator()(const std::vector<std::string>&) const {
    return list(limits.plugins.empty() ? (*this)(std::string()) : plugin_items(limits.plugins));
  }
  Json operator()(const InputFile&) const { return {{"type", "string"}}; }
  Json operator()(const InputFiles&) const { return list({{"type", "string"}}); }
  Json operator()(const Choice& choice) const { return reference_to(choice.kind); }

 private:
  Json limited(const char* type) const {
    Json schema = {{"type", type}};
    add_limits(schema, limits);
    return schema;
  }
  // A single item is accepted as a list of one.
  static Json list(const Json& item) {
    const Json items = {{"anyOf", {item, reference_to("reference")}}};
    return {{"anyOf", {item, {{"type", "array"}, {"items", items}}}}};
  }
};

Json schema_of_option(const OptionNode& node) {
  Json schema = node.block ? schema_of(node) : std::visit(ValueSchema{node.limits}, node.value);
  Json choices = Json::array({std::move(schema), reference_to("reference")});
  const bool names_files = std::holds_alternative<InputFile>(node.value) ||
                           std::holds_alternative<InputFiles>(node.value);
  if (node.optional || (names_files && !node.limits.required))
    choices.push_back({{"type", "null"}});
  Json documented{{"description", node.help}, {"anyOf", std::move(choices)}};
  if (!node.block && !node.absent && !node.limits.required &&
      !std::holds_alternative<Choice>(node.value))
    documented["description"] = fmt::format("{} (default: {})", node.help, leaf_text(node.value));
  return documented;
}

// Schema of a kind: the name of a plugin, or a block with its type and options.
Json schema_of_kind(const std::string& kind) {
  Json names = Json::array(), blocks = Json::array();
  for (const PluginEntry* entry : Registry::instance().entries(kind)) {
    names.push_back(entry->name);
    Json block = schema_of(*entry->options());
    block["description"] = entry->summary;
    block["properties"]["type"] = {{"const", entry->name}};
    blocks.push_back(std::move(block));
  }
  return {{"anyOf",
           {{{"enum", std::move(names)}}, {{"type", "object"}, {"anyOf", std::move(blocks)}}}}};
}

}  // namespace

JsonObject schema_of(const OptionNode& root) {
  Json schema{{"type", "object"}, {"properties", Json::object()}};
  for (const OptionNode& node : root.children)
    schema["properties"][node.name] = schema_of_option(node);
  schema["additionalProperties"] = false;
  return schema;
}

JsonObject schema_definitions() {
  Json definitions = {{"reference", {{"type", "string"}, {"pattern", R"(^\$\{[^}]+\}$)"}}}};
  for (const std::string& kind : Registry::instance().kinds())
    definitions[kind] = schema_of_kind(kind);
  return definitions;
}

JsonObject whole_schema(const std::string& title, JsonObject schema, JsonObject definitions) {
  Json whole{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  whole.update(schema);
  whole["definitions"] = std::move(definitions);
  return whole;
}

}  // namespace softalign
