#include "framework/study/schema.hpp"

#include <nlohmann/json.hpp>

#include "framework/config/schema.hpp"
#include "framework/study/settings.hpp"

namespace softalign {
namespace {

// The keys that sweep.cpp, settings.cpp, parameter.cpp and claim.cpp read without `describe`. The
// schemas of the others (metric, early_terminate, resources) are added by sweep_schema().
constexpr const char* kSweep = R"json({
  "type": "object",
  "properties": {
    "name": {"description": "the sweep's folder below the results", "type": ["string", "number"]},
    "question": {"description": "what the sweep asks, for people", "type": "string"},
    "notes": {"description": "for people", "type": "string"},
    "title": {"description": "of the tables", "type": "string"},
    "base": {"description": "the spec that is varied, relative to this file", "type": "string"},
    "overrides": {"description": "changes for all rows", "$ref": "#/definitions/overrides"},
    "tiny": {"description": "changes over those where the sweep is only tried (--tiny); of all parts without their own", "$ref": "#/definitions/overrides"},
    "variants": {"description": "named rows, each with its changes", "$ref": "#/definitions/variants"},
    "report": {"$ref": "#/definitions/report"},
    "parts": {
      "description": "several base specs, each with the variants",
      "type": "object",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "title": {"type": "string"},
          "base": {"type": "string"},
          "overrides": {"$ref": "#/definitions/overrides"},
          "tiny": {"$ref": "#/definitions/overrides"},
          "variants": {"description": "of this part only", "$ref": "#/definitions/variants"},
          "report": {"$ref": "#/definitions/report"}
        },
        "required": ["base"],
        "additionalProperties": false
      }
    },
    "method": {"description": "all combinations, side by side, drawn, or by Optuna", "enum": ["grid", "zip", "random", "optuna"]},
    "parameters": {
      "description": "options of the spec by path, and the values that each takes",
      "type": "object",
      "additionalProperties": {"$ref": "#/definitions/parameter"}
    },
    "conditions": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "when": {"description": "values of parameters, all of which must hold", "$ref": "#/definitions/values"},
          "set": {"$ref": "#/definitions/values"},
          "unset": {"description": "parameters that are not set: the base's value stands", "type": "array", "items": {"type": "string"}},
          "exclude": {"description": "rows with all of these values are left out", "$ref": "#/definitions/values"}
        },
        "additionalProperties": false
      }
    },
    "run_cap": {"description": "the most runs", "type": "integer", "minimum": 1},
    "search_seed": {"description": "of what random and optuna draw", "type": "integer", "minimum": 0},
    "seeds": {
      "description": "every configuration with every seed",
      "anyOf": [
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
        {
          "type": "object",
          "properties": {"first": {"type": "integer", "minimum": 0}, "count": {"type": "integer", "minimum": 1}},
          "required": ["count"],
          "additionalProperties": false
        }
      ]
    },
    "claims": {
      "description": "statements about the results, each decided",
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "claim": {"type": "string"},
          "because": {"type": "string"},
          "expect": {"enum": ["holds", "open"]}
        },
        "required": ["claim"],
        "additionalProperties": false
      }
    }
  },
  "required": ["name"],
  "anyOf": [{"required": ["base"]}, {"required": ["parts"]}],
  "additionalProperties": false,
  "definitions": {
    "values": {"type": "object"},
    "overrides": {"anyOf": [{"$ref": "#/definitions/values"}, {"type": "array", "items": {"type": "string"}}]},
    "variants": {"type": "object", "additionalProperties": {"$ref": "#/definitions/overrides"}},
    "report": {
      "description": "the tables",
      "type": "object",
      "properties": {"metrics": {"type": "array", "items": {"type": "string"}}},
      "additionalProperties": false
    },
    "parameter": {
      "type": "object",
      "properties": {
        "value": {"description": "the same in all rows"},
        "values": {"type": "array", "minItems": 1},
        "types": {"description": "every registered plugin of the kind", "const": "all"},
        "exclude": {"description": "of types", "type": "array"},
        "range": {
          "type": "object",
          "properties": {"start": {"type": "number"}, "stop": {"type": "number"}, "step": {"type": "number"}},
          "required": ["start", "stop"],
          "additionalProperties": false
        },
        "linspace": {"$ref": "#/definitions/space"},
        "geomspace": {"$ref": "#/definitions/space"},
        "distribution": {"enum": ["uniform", "int_uniform", "log_uniform_values", "normal"]},
        "min": {"type": "number"},
        "max": {"type": "number"},
        "mu": {"type": "number"},
        "sigma": {"type": "number"},
        "q": {"description": "multiples of this are taken", "type": "number"}
      },
      "additionalProperties": false
    },
    "space": {
      "type": "object",
      "properties": {"min": {"type": "number"}, "max": {"type": "number"}, "num": {"type": "integer", "minimum": 2}},
      "required": ["min", "max", "num"],
      "additionalProperties": false
    }
  }
})json";

}  // namespace

JsonObject sweep_schema() {
  auto schema = read_json<JsonObject>(kSweep);
  JsonObject& options = schema["properties"];
  options["metric"] = schema_of(ComparedMetric());
  options["early_terminate"] = schema_of(EarlyTerminateOptions());
  options["resources"] = schema_of(Resources());
  JsonObject definitions = std::move(schema["definitions"]);
  schema.erase("definitions");
  definitions["reference"] = schema_definitions()["reference"];
  return whole_schema("a sweep or a study of softalign", std::move(schema), std::move(definitions));
}

}  // namespace softalign
