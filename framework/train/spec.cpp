#include "framework/train/spec.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on
#include <map>

#include "framework/base/files.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/read_vocabularies.hpp"
#include "framework/data/task.hpp"
#include "framework/train/starting_point.hpp"

namespace softalign {
namespace {

void add_options_outside_run_id(const OptionNode& node, std::vector<std::string>& paths) {
  if (!node.limits.changes_run) paths.push_back(node.path);
  for (const OptionNode& child : node.children) add_options_outside_run_id(child, paths);
}

}  // namespace

void Spec::refuse_other(const Value& root) {
  const Value::Entry* const parts = root.find("parts");
  if (parts && parts->where.line > 0 && !root.find("task"))
    throw SpecError("{}: this is a study, not an experiment: softalign study {}",
                    parts->where.str(),
                    shell_file(parts->where.file));
  const Value::Entry* const parameters = root.find("parameters");
  if (parameters && parameters->where.line > 0 && root.find("base") && !root.find("task"))
    throw SpecError("{}: this is a sweep, not an experiment: softalign sweep run {}",
                    parameters->where.str(),
                    shell_file(parameters->where.file));
}

std::unique_ptr<const UnknownWords> make_unknown_words(const EvaluateOptions& options,
                                                       const Vocabulary* source,
                                                       const Vocabulary& target) {
  if (!options.unknown_words) return nullptr;
  return std::make_unique<const UnknownWords>(
      *options.unknown_words, source, target, options.rows());
}

std::unique_ptr<Search> make_search(const Choice& search, const Spec& spec) {
  return make_plugin<SearchKind>(search,
                                 static_cast<std::uint64_t>(spec.seed),
                                 make_plugin<TaskKind>(spec.task)->outline().target_length);
}

std::vector<std::string> Spec::options_outside_run_id() {
  std::vector<std::string> paths;
  add_options_outside_run_id(snapshot(describe_copy(Spec()), SnapshotOf::schema), paths);
  return paths;
}

RunName run_name(const Spec& spec, MissingFiles missing) {
  std::vector<std::string> faults;                             // of all files together
  std::map<std::pair<std::string, bool>, std::string> hashes;  // by path and by parameters_count
  const auto hash = [&](const InputFile& file) {
    std::string& known = hashes[{file.path, file.parameters_count}];
    if (std::error_code none; missing == MissingFiles::are_left_out && !fs::exists(file.path, none))
      return known;
    try {
      if (known.empty())
        known = file.parameters_count ? hash_of(file, parameters_sha256) : input_hash(file);
    } catch (const DataError& error) {
      faults.emplace_back(error.what());
    }
    return known;
  };
  const std::string json = canonical_json(spec, hash);
  if (!faults.empty()) throw DataError("{}", fmt::join(faults, "\n"));
  return {json, run_id(identity(json))};
}

RunPlace place_of(const Spec& spec, const std::filesystem::path& results) {
  RunName name = run_name(spec);
  std::filesystem::path folder = results / spec.name / name.run_id;
  return {std::move(name), std::move(folder)};
}

}  // namespace softalign
