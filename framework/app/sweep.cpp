// softalign sweep plan|run|submit|status|retry|extend FILE: many runs of one spec, as a sweep's file says.
// FILE is the sweep's YAML or, once it is planned, its folder.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "framework/app/command.hpp"
#include "framework/app/json.hpp"
#include "framework/app/load.hpp"
#include "framework/app/runs.hpp"
#include "framework/app/sweep.hpp"
#include "framework/app/sweep_table.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/base/text.hpp"
#include "framework/config/yaml.hpp"
#include "framework/record/file.hpp"
#include "framework/sweep/plan_file.hpp"
#include "framework/sweep/sweep_status.hpp"

namespace softalign::app {
namespace {

namespace fs = std::filesystem;

void print_notes(const SweepPlan& plan) {
  for (const std::string& note : plan.notes)
    write_error(fmt::format("note: {}\n", printable(note, kWhole)));
}

// How the sweep's parameters were understood.
std::string parameters_text(const SweepPlan& plan) {
  Table table({{"parameter"}, {"kind"}, {"values", Side::left, 20}});
  for (const SweepParameter& p : plan.parameters) {
    std::string values;
    for (const Value& value : p.values)
      values += (values.empty() ? "" : ", ") + (value.is_scalar() ? value.text : value.flow());
    if (!p.is_finite())
      values = (p.kind == SweepParameter::Kind::normal
                    ? fmt::format("mean {}, deviation {}", p.low, p.high)
                    : fmt::format("from {} to {}", p.low, p.high)) +
               (p.step > 0 ? fmt::format(", multiples of {}", p.step) : "");
    table.row({p.path, p.said, printable(values, 200)});
  }
  return table.fitted();
}

std::string plan_summary(const SweepPlan& plan) {
  std::string seeds;
  for (const Index seed : plan.seeds) seeds += fmt::format(" {}", seed);
  return fmt::format("{}: {}, seed{}{}, metric {} ({}), early_terminate {}\n",
                     plan.name,
                     plan.method == SweepMethod::optuna && plan.rows.empty()
                         ? "runs as optuna proposes them"
                         : counted(plan.rows.size(), "run"),
                     plan.seeds.size() == 1 ? "" : "s",
                     seeds,
                     plan.metric.name,
                     plan.metric.goal,
                     plan.early_terminate.type);
}

// Numbers as numbers, everything else as text.
Json json_of(const Value& value) {
  if (!value.is_scalar()) return value.flow();
  if (value.quoted) return value.text;
  const Json read = Json::parse(value.text, nullptr, false);
  return read.is_number() ? read : Json(value.text);
}

Json plan_json(const SweepPlan& plan, const SweepStatus* status) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    Json row = row_json(plan, plan.rows[i]);
    if (status) {
      const RowStatus& stands = status->rows[i];
      row["state"] = softalign::to_string(stands.state);
      row["updates"] = stands.run.last_update;
      row["metric"] = status->metric[i];
      if (!stands.fault.empty()) row["fault"] = stands.fault;
    }
    rows.push_back(std::move(row));
  }
  return {{"name", plan.name},
          {"folder", plan.folder.string()},
          {"hash", plan.hash},
          {"metric", {{"name", plan.metric.name}, {"goal", plan.metric.goal}}},
          {"plugins", named_plugins()},
          {"rows", std::move(rows)}};
}

// "best dev/loss: 1.82 ±0.03 over 3 seeds: units=64 score=dot, rows 6, 7, 8".
std::string best_text(const SweepPlan& plan, const SweepStatus& status) {
  const SweepRow& first = plan.rows[static_cast<std::size_t>(status.best.front())];
  const bool one = status.best.size() == 1;
  std::string setting = setting_text(plan, first);
  setting = setting.substr(0, setting.rfind("seed="));
  return fmt::format("best {}: {}{}: {}({} {})\n",
                     plan.metric.name,
                     metric_text(status.best_metric.mean, plan.metric.name),
                     one ? ""
                         : fmt::format(" ±{} over {} seeds",
                                       metric_text(status.best_metric.deviation, plan.metric.name),
                                       status.best.size()),
                     setting,
                     one ? "row" : "rows",
                     fmt::join(status.best, ", "));
}

// That the rows are still the runs that were planned.
void check_data(const SweepPlan& made, const SweepPlan& there) {
  for (std::size_t i = 0; i < std::min(made.rows.size(), there.rows.size()); ++i)
    if (made.rows[i].run_id != there.rows[i].run_id)
      throw DataError(
          "{}: row {} would be run {} now, not {}: its data, or the program's options, have "
          "changed; put the data back, or give this sweep another name",
          there.place().plan().string(),
          i,
          made.rows[i].run_id,
          there.rows[i].run_id);
}

// Of a sweep's folder the file that it was planned from.
void find_sweep_file(SweepArguments& arguments) {
  if (!fs::is_directory(arguments.file)) return;
  const SweepPlan there = read_plan(arguments.file);
  if (!fs::exists(there.file))
    throw SpecError("{}: it was planned from {}, which is not there; give the sweep's YAML",
                    arguments.file,
                    there.file.string());
  demand_regular_file(there.file);
  arguments.out = there.folder.parent_path().string();
  arguments.file = there.file.string();
  arguments.word = Word::stranger;
}

void plan(SweepArguments arguments, bool dry_run, bool json) {
  find_sweep_file(arguments);
  const SweepPlan made = make_plan(read_sweep(arguments.file), arguments.out, loader(arguments));
  print_notes(made);
  const bool written = !dry_run && write_plan(made);
  if (!dry_run && !written) check_data(made, read_plan(made.folder));
  if (json) return print_json(plan_json(made, nullptr));
  print_text("{}{}", plan_summary(made), parameters_text(made));
  constexpr std::size_t kShown = 20;
  if (!made.rows.empty()) print_text("\n");
  for (std::size_t i = 0; i < std::min(kShown, made.rows.size()); ++i)
    print_text("{:>5}  {}  {}\n", i, made.rows[i].run_id, setting_text(made, made.rows[i]));
  if (made.rows.size() > kShown) print_text("       ... and {} more\n", made.rows.size() - kShown);
  if (!dry_run)
    print_text(
        "{}{}\n", written ? "written: " : "planned already: ", short_path(made.place().plan()));
}

void status(const SweepArguments& arguments, bool json) {
  const SweepPlan plan = planned(arguments);
  if (!json) {
    print_sweep(plan, true);
    return;
  }
  const SweepStatus status = sweep_status(plan);
  write_sweep_table(plan, status);
  print_json(plan_json(plan, &status));
}

void extend(SweepArguments arguments) {
  find_sweep_file(arguments);
  const Sweep sweep = read_sweep(arguments.file);
  const SweepPlan longer = make_plan(sweep, arguments.out, loader(arguments));
  const SweepPlan before = read_plan(longer.folder);
  if (before.hash != longer.hash)
    throw SpecError(
        "{}: more than run_cap has changed since {} was written; only the number of runs can be "
        "raised, for anything else give the sweep another name",
        arguments.file,
        longer.place().plan().string());
  const Index added = append_rows(longer);
  print_text("{}: {} added, {} now\n",
             short_path(longer.place().plan()),
             counted(added, "row"),
             std::max(longer.rows.size(), before.rows.size()));
}

}  // namespace

std::vector<std::string> SweepArguments::out_words() const {
  return out == SweepArguments().out ? std::vector<std::string>() : std::vector{"--out=" + out};
}

std::string sweep_command(const char* name,
                          const std::vector<std::string>& options,
                          const fs::path& sweep) {
  std::string text = fmt::format("softalign sweep {}", name);
  for (const std::string& option : options) text += " " + shell_word(option);
  const std::string file = sweep.string();
  return text + (file.starts_with('-') ? " -- " : " ") + shell_word(file);
}

Json row_json(const SweepPlan& plan, const SweepRow& row) {
  Json set = Json::object();
  for (const SweepSetting& setting : row.set) set[setting.path] = json_of(setting.value);
  return {{"k", row.k},
          {"run_id", row.run_id},
          {"folder", plan.run(row).root.string()},
          {"seed", row.seed},
          {"set", std::move(set)}};
}

LoadSpec loader(const SweepArguments& arguments) {
  return [arguments](SpecTree tree) {
    return load(std::move(tree), arguments.plugins, arguments.word);
  };
}

LoadSpec frozen_loader(const SweepArguments& arguments) {
  SweepArguments frozen = arguments;
  frozen.word = Word::stranger;
  for (const std::string& file : named_plugins())
    frozen.plugins.push_back(file);  // in its own file
  return loader(frozen);
}

std::vector<std::string> plugin_words(const SweepPlan& plan, const SweepArguments& arguments) {
  Value base = parse_yaml(plan.base, plan.place().base().string());
  load_plugins(base, arguments.plugins, Word::stranger);
  std::vector<std::string> words;
  for (const std::string& file : named_plugins()) words.insert(words.end(), {"--plugin", file});
  return words;
}

SweepPlan planned(const SweepArguments& arguments) {
  const fs::path given = arguments.file;
  if (fs::is_directory(given)) return read_plan(given);
  if (given.filename() == "plan.yaml") return read_plan(given.parent_path());
  if (!fs::exists(given))
    throw SpecError("{}: no such file; give a sweep's YAML, or its folder", given.string());
  const Sweep sweep = read_sweep(given);
  const SweepFolder folder{fs::path(arguments.out) / sweep.name};
  if (!fs::exists(folder.plan()))
    throw SpecError("{}: not planned yet; {}",
                    folder.root.string(),
                    sweep_command("plan", arguments.out_words(), given));
  SweepPlan plan = read_plan(folder.root);
  if (plan.hash != plan_hash(sweep, loader(arguments)))
    write_error(
        fmt::format("note: {} or its base has changed since it was planned; this is about {}\n",
                    given.string(),
                    folder.plan().string()));
  return plan;
}

CLI::App* add_sweep_command(CLI::App& sweep, const char* name, const char* summary) {
  CLI::App* command = sweep.add_subcommand(name, summary);
  command->footer(fmt::format("Example:\n  softalign sweep {} {}{}",
                              name,
                              name == std::string("work") || name == std::string("propose")
                                  ? "results/scores"
                                  : "configs/sweeps/scores.yaml",
                              name == std::string("work") ? " --row 3" : ""));
  return command;
}

SweepPlan planned_or_plan(const SweepArguments& arguments, bool write) {
  const fs::path given = arguments.file;
  if (fs::is_directory(given) || given.filename() == "plan.yaml") return planned(arguments);
  const SweepPlan made = make_plan(read_sweep(given), arguments.out, loader(arguments));
  if (!write && !fs::exists(made.place().plan())) return made;
  if (write_plan(made)) print_notes(made);
  SweepPlan plan = read_plan(made.folder);
  if (plan.rows.size() < made.rows.size())
    write_error(fmt::format("note: run_cap is {} now, the plan has {}; {}\n",
                            made.rows.size(),
                            counted(plan.rows.size(), "row"),
                            sweep_command("extend", arguments.out_words(), given)));
  if (plan.rows.size() > made.rows.size() && plan.method != SweepMethod::optuna)
    write_error(fmt::format("note: the plan has {}, more than {} asks for now; plans only grow\n",
                            counted(plan.rows.size(), "row"),
                            given.string()));
  return plan;
}

SweepStatus print_sweep(const SweepPlan& plan, bool all) {
  const SweepStatus status = sweep_status(plan);
  if (fs::exists(plan.folder))
    if (const std::string why = write_sweep_table(plan, status); !why.empty())
      write_error(fmt::format("note: {}\n", printable(why, kWhole)));
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (all)
    print_text("{}",
               sweep_table(plan,
                           {status.rows, status.metric, status.best},
                           {},
                           terminal ? terminal_columns(STDOUT_FILENO) : 0,
                           0));
  print_text("{}: {}\n", plan.name, counts_text(status.rows));
  if (!status.best.empty()) print_text("{}", best_text(plan, status));
  for (std::size_t i = 0; i < status.rows.size(); ++i)
    if (const RowStatus& row = status.rows[i]; !row.fault.empty())
      print_error(fmt::format("row {} ({}): {}: {}",
                              plan.rows[i].k,
                              setting_text(plan, plan.rows[i]),
                              softalign::to_string(row.state),
                              printable(row.fault, kWhole)));
  return status;
}

void add_plan_options(CLI::App& command, SweepArguments& arguments) {
  command.add_option("sweep", arguments.file, "the sweep's YAML file, or its folder")->required();
  command.add_option("--out", arguments.out, "where records go")->capture_default_str();
  add_plugin_option(command, arguments.plugins);
}

void add_sweep(CLI::App& app, Outcome& outcome) {
  CLI::App* sweep = add_command(app,
                                "sweep",
                                "plan and run many variations of a spec",
                                "Experiments",
                                "softalign sweep run configs/sweeps/scores.yaml");
  sweep->require_subcommand(1);
  struct State {
    SweepArguments sweep;
    bool dry_run = false, json = false;
  };
  auto s = std::make_shared<State>();
  const auto sub = [&](const char* name, const char* summary) {
    CLI::App* command = add_sweep_command(*sweep, name, summary);
    add_plan_options(*command, s->sweep);
    return command;
  };

  CLI::App* command = sub("plan", "list the runs of a sweep, and write its plan");
  command->add_flag("--dry-run", s->dry_run, "write nothing");
  command->add_flag("--json", s->json, "print the plan as JSON");
  command->callback([s] { plan(s->sweep, s->dry_run, s->json); });

  add_sweep_run(*sweep, outcome);
  add_sweep_submit(*sweep);

  command = sub("status", "how the runs of a sweep stand, from their files");
  command->add_flag("--json", s->json, "print it as JSON");
  command->callback([s] { status(s->sweep, s->json); });

  command = sub("extend", "add rows to a plan, after run_cap was raised");
  command->callback([s] { extend(s->sweep); });

  add_sweep_work(*sweep);
}

}  // namespace softalign::app
