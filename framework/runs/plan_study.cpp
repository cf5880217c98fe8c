#include "framework/runs/plan_study.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "framework/base/suggest.hpp"
#include "framework/base/types.hpp"
#include "framework/config/writer.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/frozen_base.hpp"
#include "framework/runs/list_file.hpp"
#include "framework/train/check_spec.hpp"
#include "framework/train/diagnostics.hpp"

namespace softalign {
namespace {

bool fits(const std::string& part, const std::string& variant, const std::string& pattern) {
  return pattern.empty() || fnmatch(pattern.c_str(), (part + "/" + variant).c_str(), 0) == 0;
}

// What diagnostics may find, by part/variant and diagnostic, of what is planned.
using Diagnosed = std::map<std::string, std::map<std::string, std::vector<FoundArray>>>;

void check_finding(const Measurement& m, const Position& where, const Diagnosed& diagnosed) {
  const std::string subject = m.part + "/" + m.variant;
  const std::size_t dot = m.metric.find('.');
  const std::string diagnostic = m.metric.substr(0, dot);
  std::string array = m.metric.substr(dot + 1);
  if (array.starts_with("start.")) array.erase(0, array.find('.') + 1);
  const auto& here = diagnosed.at(subject);
  const auto found = here.find(diagnostic);
  if (found == here.end())
    throw SpecError("{}: '{}': the spec of {} has no diagnostics.{}",
                    where.str(),
                    printable(m.text, 200),
                    subject,
                    printable(diagnostic));
  std::vector<std::string> names;
  for (const FoundArray& one : found->second)
    if (one.axes.size() < 2) names.push_back(one.name);
  if (std::ranges::count(names, array) == 0)
    throw SpecError("{}: '{}': {} finds no {}{}",
                    where.str(),
                    printable(m.text, 200),
                    diagnostic,
                    printable(array),
                    suggestion(array, names));
}

void check_metrics(const Study& study,
                   const std::set<std::string>& planned,
                   const Diagnosed& diagnosed) {
  for (const StudyPart& part : study.parts)
    for (const StudyMetric& metric : part.metrics)
      if (planned.contains(part.name)) check_metric(metric.name, metric.where);
  for (const StudyClaim& claim : study.claims)
    for (const Measurement& m : claim.statement.measurements()) {
      if (!planned.contains(m.part)) continue;
      check_metric(m.metric, claim.where);
      if (m.of_diagnostic()) check_finding(m, claim.where, diagnosed);
    }
}

class Planner {
 public:
  Planner(const Study& study,
          const std::vector<Override>& overrides,
          const std::filesystem::path& results,
          const LoadSpec& load)
      : overrides_(overrides), load_(load) {
    list().folder = results / study.name;
    if (is_there(list().place().plan())) plan_.list = read_list(list().folder);
    list().name = study.name;
    list().file = study.file;
    list().options = study.options;
  }

  void add(const StudyPart& part, const StudyVariant& variant, Index seed) {
    const SpecTree tree = tree_of(part, variant, seed);
    const ResolvedSpec<Spec> resolved = [&] {
      try {
        ResolvedSpec<Spec> loaded = load_(tree);
        check_spec(loaded);
        return loaded;
      } catch (const SpecError& error) {
        throw SpecError("{} (of {}/{})", error.what(), part.name, variant.name);
      }
    }();
    auto& diagnosed = diagnosed_[part.name + "/" + variant.name];
    if (resolved.spec.diagnostics) diagnosed = arrays_found(*resolved.spec.diagnostics);
    ListedRun row{.k = std::ssize(list().rows), .part = part.name, .variant = variant.name};
    row.seed = resolved.spec.seed;  // an override may have changed it
    row.base = list().add_base(frozen_base(tree.root, resolved.spec, values_of(resolved.spec)));
    name_row(row, resolved.spec);
    refuse_twin(row);
    plan_.lengths[part.name] = resolved.spec.evaluate.lengths;
    for (const std::string& note : resolved.notes)
      if (std::ranges::count(list().notes, note) == 0) list().notes.push_back(note);
    const auto same = std::ranges::find_if(list().rows, [&](const ListedRun& known) {
      return known.below == row.below && known.part == row.part && known.variant == row.variant;
    });
    plan_.wanted.push_back(usize(same - list().rows.begin()));
    if (same == list().rows.end())
      list().rows.push_back(std::move(row));
    else
      same->base = row.base;  // data may have moved
  }

  const Diagnosed& diagnosed() const { return diagnosed_; }
  StudyPlan finish() { return std::move(plan_); }

 private:
  RunList& list() { return plan_.list; }

  SpecTree tree_of(const StudyPart& part, const StudyVariant& variant, Index seed) const {
    const Position own{"the study"};
    std::vector<Override> changes = part.changes;
    changes.insert(changes.end(), variant.changes.begin(), variant.changes.end());
    changes.push_back(parse_override(fmt::format("seed={}", seed), own));
    changes.insert(changes.end(), overrides_.begin(), overrides_.end());
    changes.push_back(parse_override(fmt::format("name={}-{}", part.name, variant.name), own));
    return load_tree(part.base, changes);
  }

  // Of one part two runs are two.
  void refuse_twin(const ListedRun& row) {
    for (const std::size_t i : plan_.wanted)
      if (const ListedRun& other = list().rows[i];
          other.part == row.part && other.run_id == row.run_id)
        throw SpecError(
            "part '{}': {} seed {} and {} seed {} are the same run; do their overrides say "
            "anything?",
            row.part,
            other.variant,
            other.seed,
            row.variant,
            row.seed);
  }

  const std::vector<Override>& overrides_;
  const LoadSpec& load_;
  Diagnosed diagnosed_;
  StudyPlan plan_;
};

}  // namespace

std::vector<std::size_t> StudyPlan::chosen(const std::string& pattern) const {
  std::vector<std::size_t> chosen;
  for (const std::size_t i : wanted)
    if (fits(list.rows[i].part, list.rows[i].variant, pattern)) chosen.push_back(i);
  return chosen;
}

StudyPlan plan_study(const Study& study,
                     const std::vector<Override>& overrides,
                     const std::filesystem::path& results,
                     const LoadSpec& load,
                     const std::string& pattern) {
  Planner planner(study, overrides, results, load);
  std::set<std::string> planned;
  for (const StudyPart& part : study.parts) {
    if (std::ranges::none_of(part.variants, [&](const StudyVariant& variant) {
          return fits(part.name, variant.name, pattern);
        }))
      continue;
    planned.insert(part.name);
    check_base(part.base, part.base_named_at);
    for (const StudyVariant& variant : part.variants)
      for (const Index seed : study.options.seeds) planner.add(part, variant, seed);
  }
  if (planned.empty())
    throw SpecError("no run fits '{}'; give a pattern of part/variant, as 'reverse/*'",
                    printable(pattern));
  check_metrics(study, planned, planner.diagnosed());
  return planner.finish();
}

}  // namespace softalign
