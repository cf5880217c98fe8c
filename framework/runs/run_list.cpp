#include "framework/runs/run_list.hpp"

#include <algorithm>
#include <set>

#include "framework/analysis/differences.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/path.hpp"
#include "framework/runs/frozen_base.hpp"
#include "framework/train/check_spec.hpp"
#include "framework/train/run_name.hpp"

namespace softalign {
namespace {

constexpr std::size_t kBaseName = 16;  // hexadecimal digits

// A row's settings as one text: rows of one configuration have the same.
std::string key_of(const ListedRun& row) {
  std::string key = row.part + "/" + row.variant + " " + row.base + "\n";
  for (const Override& change : row.set) key += change.path + "=" + change.value.flow() + "\n";
  return key;
}

}  // namespace

const std::string& RunList::add_base(Value tree) {
  const std::string hash_of_text = sha256_hex(block_text(tree));
  return bases.emplace(hash_of_text.substr(0, kBaseName), std::move(tree)).first->first;
}

void RunList::set(SweepSettings settings) {
  static_cast<SweepSettings&>(*this) = std::move(settings);
  std::set<std::string> paths;
  for (const SweepParameter& parameter : parameters)
    if (!parameter.is_finite() || parameter.values.size() != 1) paths.insert(parameter.path);
  varied = short_names(paths);
}

ResolvedSpec<Spec> resolve_row(const RunList& list,
                               const ListedRun& row,
                               const LoadSpec& load,
                               const std::string& compared) {
  const Position own{"the plan"};
  SpecTree tree{list.bases.at(row.base), {}};
  std::vector<Override> changes = row.set;
  const std::string name = list.run(row).root.parent_path().filename().string();
  changes.push_back(parse_override(fmt::format("seed={}", row.seed), own));
  changes.push_back(parse_override(fmt::format("name={}", name), own));
  for (const Override& change : changes) apply(tree.root, change, tree.notes);
  ResolvedSpec<Spec> resolved = load(std::move(tree));
  check_spec(resolved, compared);
  return resolved;
}

ResolvedSpec<Spec> row_spec(const RunList& list, const ListedRun& row, const LoadSpec& load) {
  ResolvedSpec<Spec> resolved = resolve_row(list, row, load);
  if (const std::string run_id = run_name(resolved.spec).run_id; run_id != row.run_id)
    throw DataError(
        "row {} ({}): its data, or the program's options, are not those of when it was planned: it "
        "would be run {}, not {}; put the data back, or plan it anew under another name",
        row.k,
        setting_text(list, row),
        run_id,
        row.run_id);
  return resolved;
}

void name_row(ListedRun& row, const Spec& spec) {
  row.run_id = run_name(spec).run_id;
  row.below = row.part.empty() ? row.run_id : (fs::path(spec.name) / row.run_id).string();
}

std::string setting_text(const RunList& list, const ListedRun& row) {
  return configuration_text(list, row) + fmt::format("seed={}", row.seed);
}

std::string configuration_text(const RunList& list, const ListedRun& row) {
  std::string text = row.part.empty() ? "" : row.part + "/" + row.variant + " ";
  for (const Override& change : row.set) {
    const auto name = list.varied.find(change.path);
    const bool is_parameter =
        std::ranges::count(list.parameters, change.path, &SweepParameter::path) > 0;
    if (name == list.varied.end() && is_parameter) continue;  // the same in all rows
    text += fmt::format("{}={} ",
                        is_parameter ? name->second : change.path,
                        change.value.is_scalar() ? change.value.text : change.value.flow());
  }
  return text;
}

std::vector<std::vector<std::size_t>> configurations(const RunList& list) {
  std::vector<std::vector<std::size_t>> found;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    const auto [place, first] = places.emplace(key_of(list.rows[i]), found.size());
    if (first) found.emplace_back();
    found[place->second].push_back(i);
  }
  return found;
}

}  // namespace softalign
