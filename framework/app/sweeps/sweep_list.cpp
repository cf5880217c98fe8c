#include "framework/app/sweeps/sweep_list.hpp"

#include <filesystem>

#include "framework/app/sweeps/sweep.hpp"
#include "framework/app/sweeps/sweep_print.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/path.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/config/yaml.hpp"
#include "framework/record/file.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/list_file.hpp"
#include "framework/runs/plan_study.hpp"
#include "framework/runs/plan_sweep.hpp"

namespace softalign::app {

bool is_study(const fs::path& file) { return read_yaml(file).find("parts") != nullptr; }

std::vector<std::string> SweepArguments::out_words() const {
  return out == SweepArguments().out ? std::vector<std::string>() : std::vector{"--out=" + out};
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

RunList made_from(const SweepArguments& arguments) {
  const LoadSpec load = loader(arguments);
  return is_study(arguments.file)
             ? plan_study(read_study(arguments.file), {}, arguments.out, load).list
             : plan_sweep(read_sweep(arguments.file), arguments.out, load);
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

RunList planned(const SweepArguments& arguments) {
  const fs::path given = arguments.file;
  if (fs::is_directory(given)) return read_list(given);
  if (given.filename() == "plan.jsonl") return read_list(given.parent_path());
  if (!fs::exists(given))
    throw SpecError("{}: no such file; give the YAML of a sweep or a study, or its folder",
                    given.string());
  const bool study = is_study(given);
  const ListFolder folder{fs::path(arguments.out) /
                          (study ? read_study(given).name : read_sweep(given).name)};
  if (!is_there(folder.plan()))
    throw SpecError("{}: not planned yet; {}",
                    folder.root.string(),
                    sweep_command("plan", arguments.out_words(), given));
  RunList list = read_list(folder.root);
  if (!study && list.hash != plan_hash(read_sweep(given), loader(arguments)))
    write_error(
        fmt::format("note: {} or its base has changed since it was planned; this is about {}\n",
                    given.string(),
                    folder.plan().string()));
  return list;
}

RunList planned_or_plan(const SweepArguments& arguments, bool write) {
  const fs::path given = arguments.file;
  if (fs::is_directory(given) || given.filename() == "plan.jsonl") return planned(arguments);
  const RunList made = made_from(arguments);
  if (!write && !is_there(made.place().plan())) return made;
  if (keep(made)) print_notes(made);
  RunList list = read_list(made.folder);
  if (list.rows.size() < made.rows.size())
    write_error(fmt::format("note: run_cap is {} now, the plan has {}; {}\n",
                            made.rows.size(),
                            counted(list.rows.size(), "row"),
                            sweep_command("extend", arguments.out_words(), given)));
  if (list.rows.size() > made.rows.size() && list.method != SweepMethod::optuna)
    write_error(fmt::format("note: the plan has {}, more than {} asks for now; plans only grow\n",
                            counted(list.rows.size(), "row"),
                            given.string()));
  return list;
}

std::vector<StudyClaim> claims_of(const SweepArguments& arguments, const RunList& list) {
  const fs::path given = arguments.file;
  if (list.hash.empty()) return {};
  const bool by_folder = fs::is_directory(given) || given.filename() == "plan.jsonl";
  const fs::path file = by_folder ? list.file : given;
  if (by_folder && !fs::is_regular_file(file)) return {};
  const Sweep sweep = read_sweep(file);
  if (sweep.name != list.name)
    throw SpecError("{}: is the file of sweep {} now, not of {}",
                    file.string(),
                    printable(sweep.name),
                    list.name);
  for (const StudyClaim& claim : sweep.claims)
    for (const Measurement& m : claim.statement.measurements()) check_metric(m.metric, claim.where);
  return sweep.claims;
}

std::vector<StudyClaim> claims_or_note(const SweepArguments& arguments, const RunList& list) {
  try {
    return claims_of(arguments, list);
  } catch (const SpecError& error) {
    write_error(fmt::format("note: claims are not judged: {}\n", error.what()));
    return {};
  }
}

}  // namespace softalign::app
