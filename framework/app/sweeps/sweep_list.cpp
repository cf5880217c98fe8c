#include "framework/app/sweeps/sweep_list.hpp"

#include <filesystem>
#include <numeric>

#include "framework/app/sweeps/sweep.hpp"
#include "framework/app/sweeps/sweep_print.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/path.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/record/file.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/list_file.hpp"

namespace softalign::app {
namespace {

std::vector<std::size_t> all_rows(const RunList& list) {
  std::vector<std::size_t> rows(list.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

std::vector<std::string> SweepArguments::out_words() const {
  return out == SweepArguments().out ? std::vector<std::string>() : std::vector{"--out=" + out};
}

bool SweepArguments::is_planned() const {
  return fs::is_directory(file) || fs::path(file).filename() == "plan.jsonl";
}

LoadSpec loader(const SweepArguments& arguments) {
  return [arguments](SpecTree tree) {
    return softalign::load_spec(std::move(tree), arguments.plugins, arguments.out, arguments.named);
  };
}

LoadSpec frozen_loader(const SweepArguments& arguments) {
  SweepArguments frozen = arguments;
  frozen.named = NamedPlugins::refuse;
  for (const std::string& file : named_plugins())
    frozen.plugins.push_back(file);  // in its own file
  return loader(frozen);
}

std::vector<std::string> plugin_words(const RunList& list, const SweepArguments& arguments) {
  for (auto [name, base] : list.bases) load_plugins(base, arguments.plugins, NamedPlugins::refuse);
  std::vector<std::string> words;
  for (const std::string& file : named_plugins()) words.insert(words.end(), {"--plugin", file});
  return words;
}

void find_sweep_file(SweepArguments& arguments) {
  if (!fs::is_directory(arguments.file)) return;
  const RunList there = read_list(arguments.file);
  if (!fs::exists(there.file))
    throw SpecError("{}: it was planned from {}, which is not there; give the sweep's YAML",
                    arguments.file,
                    there.file.string());
  demand_regular_file(there.file);
  arguments.out = there.folder.parent_path().string();
  arguments.file = there.file.string();
  arguments.named = NamedPlugins::refuse;
}

SweepSubject subject_of(const SweepArguments& arguments) {
  SweepSubject subject;
  Plan& plan = subject.plan;
  if (arguments.is_planned()) {
    if (arguments.tiny || !arguments.overrides.empty())
      throw SpecError("{}: is planned; --tiny and overrides go with the YAML", arguments.file);
    plan.list = planned(arguments);
    plan.wanted = all_rows(plan.list);
    return subject;
  }
  subject.sweep = read_sweep(arguments.file, arguments.tiny);
  subject.claims = subject.sweep->claims;
  plan = plan_sweep(*subject.sweep,
                    numbered_overrides(arguments.overrides),
                    arguments.out,
                    loader(arguments),
                    arguments.only);
  return subject;
}

bool keep(const RunList& made) {
  check_places(made.place());
  const bool there = is_there(made.place().plan());
  if (there && !made.hash.empty())
    check_runs(made, read_list(made.folder));
  else
    write_list(made);
  return !there;
}

void keep(const SweepArguments& arguments, SweepSubject& subject) {
  if (!subject.sweep) return;
  RunList& list = subject.plan.list;
  if (keep(list) || subject.is_study()) print_notes(list);
  if (subject.is_study()) return;
  const std::size_t made = list.rows.size();
  list = read_list(list.folder);
  subject.plan.wanted = all_rows(list);
  if (list.rows.size() < made)
    write_error(fmt::format("note: run_cap is {} now, the plan has {}; {}\n",
                            made,
                            counted(list.rows.size(), "row"),
                            sweep_command("extend", arguments.out_words(), arguments.file)));
  if (list.rows.size() > made && list.method != SweepMethod::optuna)
    write_error(fmt::format("note: the plan has {}, more than {} asks for now; plans only grow\n",
                            counted(list.rows.size(), "row"),
                            arguments.file));
}

RunList planned(const SweepArguments& arguments) {
  const fs::path given = arguments.file;
  if (arguments.is_planned())
    return read_list(fs::is_directory(given) ? given : given.parent_path());
  if (!fs::exists(given))
    throw SpecError("{}: no such file; give the YAML of a sweep or a study, or its folder",
                    given.string());
  const Sweep sweep = read_sweep(given);
  const ListFolder folder{fs::path(arguments.out) / sweep.name};
  if (!is_there(folder.plan()))
    throw SpecError("{}: not planned yet; {}",
                    folder.root.string(),
                    sweep_command("plan", arguments.out_words(), given));
  RunList list = read_list(folder.root);
  if (!sweep.has_variants() && list.hash != plan_hash(sweep, loader(arguments)))
    write_error(
        fmt::format("note: {} or its base has changed since it was planned; this is about {}\n",
                    given.string(),
                    folder.plan().string()));
  return list;
}

std::optional<Sweep> file_of(const SweepArguments& arguments, const RunList& list) {
  if (!arguments.is_planned()) return read_sweep(arguments.file);
  if (!is_there(list.file)) return {};
  demand_regular_file(list.file);
  return read_sweep(list.file);
}

std::vector<StudyClaim> claims_of(const SweepArguments& arguments, const RunList& list) {
  const std::optional<Sweep> sweep = list.has_variants() ? std::nullopt : file_of(arguments, list);
  if (!sweep) return {};
  if (sweep->name != list.name && sweep->name + "-tiny" != list.name)
    throw SpecError("{}: is the file of sweep {} now, not of {}",
                    sweep->file.string(),
                    printable(sweep->name),
                    list.name);
  for (const StudyClaim& claim : sweep->claims)
    for (const Measurement& m : claim.statement.measurements()) check_metric(m.metric, claim.where);
  return sweep->claims;
}

std::vector<StudyClaim> claims_or_note(const SweepArguments& arguments, const RunList& list) {
  try {
    return claims_of(arguments, list);
  } catch (const Error& error) {
    write_error(fmt::format("note: claims are not judged: {}\n", error.what()));
    return {};
  }
}

}  // namespace softalign::app
