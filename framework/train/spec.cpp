#include "framework/train/spec.hpp"

#include "framework/config/writer.hpp"

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

std::vector<std::string> Spec::options_outside_run_id() {
  std::vector<std::string> paths;
  add_options_outside_run_id(snapshot(describe_copy(Spec()), SnapshotOf::schema), paths);
  return paths;
}

}  // namespace softalign
