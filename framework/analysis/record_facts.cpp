#include "framework/analysis/record_facts.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/analysis/run_origin.hpp"
#include "framework/base/json.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/train/stored_results.hpp"
#include "framework/train/text_results.hpp"

namespace softalign {
namespace {

// Returns datasets of a group that share an axis as rows, with an empty text for missing datasets.
JsonObject rows_of_table(const Record& record,
                         const std::string& group,
                         const std::vector<std::string>& numbers,
                         const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, Values>> columns;
  Index rows = 0;
  for (const std::vector<std::string>* names : {&numbers, &texts})
    for (const std::string& name : *names) {
      if (!record.has(group + "/" + name)) continue;
      Values values = record.array(group, name).values;
      const bool is_text = std::holds_alternative<std::vector<std::string>>(values);
      if (is_text != (names == &texts) || (!columns.empty() && size_of(values) != rows))
        throw damaged_value(record.file(), group + "/" + name);
      rows = size_of(values);
      columns.emplace_back(name, std::move(values));
    }
  JsonObject row = JsonObject::object();
  for (const std::vector<std::string>* names : {&numbers, &texts})
    for (const std::string& name : *names) row[name] = "";
  JsonObject table = std::vector<JsonObject>(usize(rows), row);
  for (const auto& [name, values] : columns)
    std::visit(
        [&, &column = name](const auto& list) {
          for (std::size_t i = 0; i < list.size(); ++i) table[i][column] = list[i];
        },
        values);
  return table;
}

JsonObject single_values(const Record& record, const std::string& group) {
  JsonObject found = JsonObject::object();
  if (!record.has(group)) return found;
  const JsonObject attributes = record.attributes(group);
  for (const auto& [name, value] : attributes.items())
    if (value.is_primitive() && !value.is_null()) found[name] = value;
  return found;
}

void add_hashes(const JsonObject& json, const std::string& path, JsonObject& hashes) {
  for (const auto& [key, value] : json.items()) {
    const std::string below = path.empty() ? key : path + "." + key;
    if (value.is_object())
      add_hashes(value, below, hashes);
    else if (value.is_string() && value.get_ref<const std::string&>().starts_with("sha256:"))
      hashes.push_back({below, value});
  }
}

JsonObject facts_of(const Record& record) {
  const auto whole = [&](const std::string& group, const char* name) {
    const std::optional<Index> value = record.attribute<Index>(group, name);
    return value ? JsonObject(*value) : JsonObject();
  };
  JsonObject facts = {
      {"version", record.attribute<std::string>("", "framework_version").value_or("?")},
      {"parameters", whole("", "parameters")},
      {"selected_update", JsonObject()},
      {"length_unit",
       record.has("data") && record.attribute<Index>("data", "frame_size") ? "frames" : "tokens"},
      {"provenance", single_values(record, "provenance")},
      {"attempts", attempts_json(record)},
      {"events", rows_of_table(record, "provenance/events", {"attempt"}, {"time", "text"})},
      {"data", JsonObject::object()},
      {"files", JsonObject::array()},
      {"hashes", JsonObject::array()},
      {"spec", read_json<JsonObject>(record.identity_json())},
      {"spec_yaml", record.spec_yaml()},
      {"early_termination", ""}};
  if (!facts["spec"].is_object()) throw damaged_value(record.file(), "provenance/identity_json");
  add_hashes(facts["spec"], "", facts["hashes"]);
  const RunOrigin origin = origin_of(record);
  facts["notes"] = origin.notes;
  facts["tags"] = origin.tags;
  facts["seconds"] = origin.seconds;
  if (record.has("test")) {
    facts["selected_update"] = whole("test", "selected_update");
    const auto unit = record.attribute<std::string>("test", "length_unit");
    if (unit) facts["length_unit"] = *unit;
    if (unit && *unit != "words" && *unit != "pieces" && *unit != "characters")
      throw damaged_value(record.file(), "test@length_unit");
  }
  for (const char* split : {"train", "dev", "test"})
    if (const std::string group = std::string("data/") + split; record.has(group))
      for (const char* name : {"read", "kept", "dropped_too_long", "dropped_empty", "truncated"})
        if (JsonObject count = whole(group, name); !count.is_null())
          facts["data"][split][name] = std::move(count);
  for (const TextFacts& file : texts_of(record))
    facts["files"].push_back({{"option", file.option},
                              {"symbols", file.symbols},
                              {"unknown", file.unknown},
                              {"types", file.types},
                              {"unknown_types", file.unknown_types}});
  if (record.has("provenance/early_termination"))  // a short text is an attribute instead
    facts["early_termination"] = record.text("provenance", "early_termination");
  else if (const auto found = facts["provenance"].find("early_termination");
           found != facts["provenance"].end() && found->is_string())
    facts["early_termination"] = *found;
  facts["provenance"].erase("early_termination");
  facts["found"] = JsonObject::
      object();  // single numbers of diagnostics, at the end of training and at its start
  for (const auto& [name, found] : read_findings(record))
    if (found.places.size() == 0 && found.values.size() == 1)
      facts["found"][name] = found.values(0);
  return facts;
}

std::string text_attribute(const Array& array, const char* name) {
  const auto json = read_json<JsonObject>(array.attributes);
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

JsonObject attempts_json(const Record& record) {
  JsonObject attempts = rows_of_table(record,
                                      "provenance/attempts",
                                      {"attempt", "last_update"},
                                      {"started", "ended", "state", "host"});
  const bool runs = record.state() == to_string(RunState::running);
  for (std::size_t i = 0; i < attempts.size(); ++i)
    if (JsonObject& state = attempts[i]["state"]; state == "")
      state = runs && i + 1 == attempts.size() ? "running" : "stopped without a word";
  return attempts;
}

NamedSeries all_series(const Record& record) {
  NamedSeries all;
  for (const std::string& name : record.series_names()) all[name] = record.series(name);
  return all;
}

std::map<std::string, Finding> findings_of(const Record& record) {
  std::map<std::string, Finding> findings;
  for (const RecordedDiagnostic& one : recorded_diagnostics(record))
    for (const Array& array : one.arrays) {
      if (array.dims.size() > 2) continue;
      const Dimension& axis = array.dims.back();
      Finding found{text_attribute(array, "long_name"),
                    text_attribute(array, "units"),
                    axis.name,
                    axis.name,
                    {},
                    {}};
      if (const std::string words = text_attribute(record.array(one.group, axis.name), "long_name");
          !words.empty())
        found.axis = words;
      found.at = numbers_in(record, one.group, axis.name, usize(axis.size));
      const Array2d numbers = by_update(array);
      found.values =
          array.dims.size() == 1 ? Array1d(xt::col(numbers, 0)) : Array1d(xt::row(numbers, -1));
      findings.emplace(one.name + "/" + one.split + "/" + array.name, std::move(found));
    }
  return findings;
}

namespace {

JsonObject nested(const std::vector<double>& values,
                  const std::vector<Dimension>& dims,
                  std::size_t axis,
                  std::size_t& at) {
  if (axis == dims.size()) {
    const double value = values[at++];
    return std::isfinite(value) ? JsonObject(value) : JsonObject();
  }
  JsonObject list = JsonObject::array();
  for (Index i = 0; i < dims[axis].size; ++i) list.push_back(nested(values, dims, axis + 1, at));
  return list;
}

}  // namespace

JsonObject diagnostics_json(const Record& record, const std::string& name) {
  JsonObject json = JsonObject::object();
  for (const RecordedDiagnostic& found : recorded_diagnostics(record, name)) {
    JsonObject& to = json[found.name][found.split];
    for (const std::vector<Array>* list : {&found.axes, &found.arrays})
      for (const Array& array : *list) {
        JsonObject axes = JsonObject::array();
        for (const Dimension& dim : array.dims) axes.push_back(dim.name);
        std::size_t at = 0;
        const auto* doubles = std::get_if<std::vector<double>>(&array.values);
        const JsonObject values =
            doubles != nullptr
                ? nested(*doubles, array.dims, 0, at)
                : std::visit([](const auto& v) { return JsonObject(v); }, array.values);
        to[array.name] = {{"axes", axes}, {"values", values}};
      }
  }
  return json;
}

JsonObject record_json(const Record& record) {
  JsonObject json = record.attributes();
  json["state"] = record.state();
  json["record"] = record.file().string();
  const RunOrigin origin = origin_of(record);
  json["tags"] = origin.tags;
  json["notes"] = origin.notes;
  json["provenance"] = record.attributes("provenance");
  for (const char* split : {"train", "dev", "test"})
    json["data"][split] = record.attributes(std::string("data/") + split);
  if (const MetricTable table = read_by_length(record); !table.rows.empty())
    json["test"] = metrics_json(table);
  if (JsonObject found = diagnostics_json(record); !found.empty())
    json["diagnostics"] = std::move(found);
  json["spec_yaml"] = record.spec_yaml();
  return json;
}

JsonObject record_facts(const Record& record, const NamedSeries& series) {
  JsonObject facts = facts_of(record);
  facts["series"] = JsonObject::array();
  for (const auto& [name, numbers] : series) facts["series"].push_back(name);
  return facts;
}

std::vector<std::string> oddities_of(const std::filesystem::path& record) {
  const RunFolder run{folder_of(record)};
  std::vector<std::string> odd;
  const std::vector<Index> journals = run.journals();
  const auto there = [](const std::filesystem::path& file) {
    try {
      return is_there(file);
    } catch (const Error&) {  // a dangling symbolic link
      return false;
    }
  };
  if (!there(run.identity()) && journals.empty()) return odd;
  if (!there(run.spec())) odd.emplace_back("spec.yaml is missing");
  for (const Index attempt : journals) {
    const std::filesystem::path file = run.journal(attempt);
    try {
      if (!begins_as_journal(file))
        odd.push_back(file.filename().string() + " is no journal: it does not begin as one");
    } catch (const Error& error) {
      odd.push_back(fmt::format("{} cannot be read: {}", file.filename().string(), error.what()));
    }
  }
  return odd;
}

}  // namespace softalign
