#include "framework/inference/evaluate_run.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/read_vocabularies.hpp"
#include "framework/data/task.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/results.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/starting_point.hpp"
#include "framework/train/text_results.hpp"

namespace softalign {

Remeasured evaluate_run(const TrainedRuns& runs,
                        const std::string& split_name,
                        const Progress& progress) {
  const TrainedRun& run = runs.first();
  const auto search = runs.search();
  const auto unknown = runs.unknown_words();
  DataChanges changes = data_changes(run.record(), run.spec());
  Remeasured measured{split_name, {}, std::move(changes.changed), std::move(changes.missing), {}};
  if (!measured.changed.empty())
    runs.note(fmt::format("note: the data is not what the run read: {} changed",
                          fmt::join(measured.changed, ", ")));
  EvaluationSizes sizes(runs);
  const auto check_sizes = [&](const DataOutline& of) {
    const EvaluateOptions& how = run.spec().evaluate;
    sizes.check({split_name == "dev" ? of.dev : of.test, &how.search, how.batch}, of);
  };
  const std::string other = split_name == "dev" ? "task.test" : "task.dev";
  for (const Override& change : runs.options.changes)
    if (change.path == other || change.path.starts_with(other + "."))
      runs.note(fmt::format("note: {}: {} has no effect: the {} sentences are measured",
                            change.where.str(),
                            change.path,
                            split_name));
  const DataOutline outline = make_plugin<TaskKind>(run.spec().task)->outline();
  if (outline.measured()) check_sizes(outline);
  std::vector<std::string> needed = measured.missing;
  std::erase_if(needed, [&](const std::string& option) {
    return option.starts_with("init.") || option.starts_with("task.train.") ||
           option.starts_with("task.vocabulary.") ||
           option.starts_with(split_name == "dev" ? "task.test." : "task.dev.");
  });
  if (needed.empty() && !measured.missing.empty())
    runs.note(fmt::format("note: measured without the files of {}, which are missing",
                          fmt::join(measured.missing, ", ")));
  const Dataset data = load_data(run, split_name, needed, progress);
  for (const std::string& note : data.notes) runs.note("note: " + note);
  if (!outline.measured()) {
    DataOutline read = outline_of(data);
    read.held = false;  // the data is counted already
    check_sizes(read);
  }
  const Split& split = split_name == "dev" ? data.dev : data.test;
  if (const std::string skipped = skipped_text(split); !skipped.empty())
    runs.note("note: " + skipped);
  for (const std::string& note : notes_of(split.texts, texts_of(run.record())))
    runs.note("note: " + note);

  Workers workers(resolve_thread_count(runs.options.threads));
  EvaluationRequest request;
  request.search = search.get();
  request.unknown = unknown.get();
  request.source = run.source.get();
  request.metrics = run.spec().evaluate.measured();
  request.row_aligns = run.spec().evaluate.rows();
  request.batch = run.spec().evaluate.batch;
  if (progress)
    request.progress = [&](Index done, Index total) {
      progress("evaluating " + split.name, done, total);
    };
  const EvaluatedSplit result = evaluate(runs.scorer, split, *run.target, request, workers);
  measured.counts = split.counts;
  measured.table = metrics_of(run.spec(), split, run.source.get(), result.counts);
  return measured;
}

JsonObject search_json(const Spec& spec) {
  constexpr std::string_view kBlock = "evaluate.search.";
  JsonObject json = JsonObject::object();
  for (const OptionLeaf& leaf : option_leaves(spec))
    if (leaf.path.starts_with(kBlock)) json[leaf.path.substr(kBlock.size())] = leaf.value;
  return json;
}

JsonObject remeasured_json(const TrainedRuns& runs, const Remeasured& result) {
  const TrainedRun& run = runs.first();
  JsonObject json = {{"run_id", run.run_id},
                     {"split", result.split},
                     {"search", search_json(run.spec())},
                     {"lines", result.counts.read},
                     {"changed_data", result.changed},
                     {"missing_data", result.missing},
                     {"metrics", metrics_json(result.table)}};
  if (run.spec().evaluate.unknown_words)
    json["unknown_words"] = run.spec().evaluate.unknown_words->by;
  if (run.spec().evaluate.row_aligns) json["row_aligns"] = *run.spec().evaluate.row_aligns;
  if (!run.state.empty()) json["state"] = run.state;
  if (runs.members.size() > 1)
    json["ensemble"] = {
        {"run_ids", runs.ids()},
        {"average",
         runs.options.mean == Scorer::Mean::probabilities ? "probabilities" : "log-probabilities"}};
  return json;
}

namespace {

using SortedJson = nlohmann::json;

SortedJson::json_pointer lexicon_path() {
  return SortedJson::json_pointer("/evaluate/unknown_words/lexicon");
}

constexpr std::size_t kLongest = 4096;  // bytes of a path; the system does not open longer ones

// Returns whether a file has a digest: that of its bytes or, for a record or its folder, that of its parameters or
// vocabularies.
bool holds(const fs::path& file, const std::string& digest) {
  std::error_code none;
  for (const auto& hash : {+[](const fs::path& f) { return input_hash({f.string()}); },
                           +[](const fs::path& f) { return parameters_sha256(f); }})
    try {
      if (fs::exists(file, none) && file_digest(hash(file)) == digest) return true;
    } catch (const Error&) {  // unreadable, or not a record
    }
  return false;
}

// Returns the longest suffix of a path that stays below any folder it is appended to.
fs::path end_of(const fs::path& path) {
  fs::path end;
  for (const fs::path& part : path.relative_path())
    if (!end.empty() || part != "..") end /= part;
  return end;
}

// Searches the folders above the record, the nearest first, and the working directory last.
std::optional<fs::path> new_place(const fs::path& record,
                                  const fs::path& old,
                                  const std::string& digest) {
  for (fs::path above = whole_path(record).parent_path();; above = above.parent_path()) {
    if (auto file = find_below(above, old, digest)) return file;
    if (above == above.parent_path()) return find_below(fs::current_path(), old, digest);
  }
}

// Adds the files that a value names. `identity`: the value in the run's identity, with digests instead of paths.
void add_files(Value& value, const SortedJson& identity, DataFiles& files) {
  for (Value::Entry& entry : value.entries)
    if (identity.is_object() && identity.contains(entry.key))
      add_files(entry.value, identity[entry.key], files);
  if (value.is_list() && identity.is_array() && identity.size() == value.items.size())
    for (std::size_t i = 0; i < value.items.size(); ++i)
      add_files(value.items[i], identity[i], files);
  if (!value.is_scalar() || !identity.is_string()) return;
  const auto digest = identity.get<std::string>();
  if (is_file_digest(digest) && value.text.size() <= kLongest) files.emplace_back(&value, digest);
}

// Adds the paths at which two JSON trees differ.
void differences(const SortedJson& a,
                 const SortedJson& b,
                 const std::string& path,
                 std::vector<std::string>& found) {
  if (!a.is_object() || !b.is_object()) {
    if (a != b) found.push_back(path);
    return;
  }
  for (const auto& [key, value] : a.items())
    differences(value,
                b.contains(key) ? b[key] : SortedJson(),
                path.empty() ? key : path + "." + key,
                found);
}

SortedJson recorded_identity(const Record& record) {
  SortedJson identity = read_json<SortedJson>(record.identity_json());
  if (!identity.is_object()) throw damaged_record(record.file(), "its identity_json is not JSON");
  return identity;
}

// Returns the blocks and options that name files.
SortedJson inputs_of(const SortedJson& identity) {
  SortedJson inputs = SortedJson::object();
  for (const char* block : {"task", "init"})
    if (identity.contains(block)) inputs[block] = identity[block];
  if (const auto path = lexicon_path(); identity.contains(path)) inputs[path] = identity[path];
  return inputs;
}

// Adds the options below `node` that name a missing file.
void find_missing(const OptionNode& node, std::vector<std::string>& found) {
  const auto missing = [](const InputFile& file) {
    std::error_code none;
    return !file.path.empty() && !fs::exists(file.path, none);
  };
  const auto* const file = std::get_if<InputFile>(&node.value);
  const auto* const files = std::get_if<InputFiles>(&node.value);
  if ((file && missing(*file)) || (files && std::ranges::any_of(*files, missing)))
    found.push_back(node.path);
  for (const OptionNode& child : node.children) find_missing(child, found);
}

}  // namespace

std::optional<fs::path> find_below(const fs::path& folder,
                                   const fs::path& old,
                                   const std::string& digest) {
  for (fs::path end = end_of(old); !end.empty();) {
    if (fs::path file = folder / end; holds(file, digest)) return file;
    fs::path shorter;
    for (auto part = std::next(end.begin()); part != end.end(); ++part) shorter /= *part;
    end = std::move(shorter);
  }
  return std::nullopt;
}

void find_moved_data(const Record& record, Value& spec) {
  const fs::path folder = record.file().parent_path();
  for (auto& [path, digest] : data_files(record, spec)) {
    if (holds(folder / path->text, digest)) continue;
    if (const auto place = new_place(record.file(), path->text, digest))
      path->text = place->string();
  }
}

DataFiles data_files(const Record& record, Value& spec) {
  DataFiles files;
  add_files(spec, read_json<SortedJson>(record.identity_json()), files);
  return files;
}

std::vector<std::string> differences_in(const std::string& block,
                                        const Record& a,
                                        const Record& b) {
  std::string path = "/" + block;
  std::ranges::replace(path, '.', '/');
  const SortedJson::json_pointer at(path);
  const SortedJson of_a = recorded_identity(a).value(at, SortedJson()),
                   of_b = recorded_identity(b).value(at, SortedJson());
  std::vector<std::string> found;
  differences(of_a, of_b, block, found);
  if (found.empty()) differences(of_b, of_a, block, found);  // options that only b has
  return found;
}

bool lexicon_changed(const TrainedRun& run) {
  const auto& words = run.spec().evaluate.unknown_words;
  if (!words) return false;
  const auto digest = recorded_identity(run.record()).value(lexicon_path(), SortedJson());
  return digest.is_string() && !holds(words->lexicon.path, digest.get<std::string>());
}

std::string restore_advice(const Record& record, const std::vector<std::string>& missing) {
  return fmt::format("{}: restore these files, or give their new paths: {}=FILE",
                     record.file().string(),
                     fmt::join(missing, "=FILE "));
}

DataChanges data_changes(const Record& record, const Spec& spec) {
  DataChanges found;
  find_missing(values_of(spec), found.missing);
  const SortedJson recorded = inputs_of(recorded_identity(record));
  const RunName name = run_name(spec, MissingFiles::are_left_out);
  differences(recorded, inputs_of(read_json<SortedJson>(name.identity_json)), "", found.changed);
  std::erase_if(found.changed, [&](const std::string& option) {
    return std::ranges::count(found.missing, option) > 0;
  });
  return found;
}

std::vector<std::string> changed_data(const Record& record, const Spec& spec) {
  DataChanges found = data_changes(record, spec);
  if (found.missing.empty()) return found.changed;
  try {
    run_name(spec);
  } catch (const DataError& fault) {
    throw DataError("{}\n{}", fault, restore_advice(record, found.missing));
  }
  return found.changed;
}

}  // namespace softalign
