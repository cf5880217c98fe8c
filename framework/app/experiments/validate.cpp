// softalign validate, resolve: check and print specs without running them.
#include <cstdio>
#include <functional>

#include "framework/app/command.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/config/writer.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

// softalign validate SPEC.. [KEY=VALUE..]: reports errors in specs, and in the files that they name,
// without running them.

namespace {

struct ValidateArguments {
  std::vector<std::string> files;  // specs, and overrides among them
  std::vector<std::string> plugins;
  int threads = 0;
  bool json = false;
};

// The errors and notes on a spec and on the files that it names.
struct Findings {
  std::string run_id;
  std::vector<std::string> errors;  // a line each
  std::vector<std::string> notes;
  ExitCode code = ExitCode::done;
  MemoryEstimate memory;
  int threads = 0;          // of the estimate
  bool fits = true;         // on this machine
  std::size_t missing = 0;  // number of errors that are about files that the spec names

  bool valid() const { return errors.size() == missing; }

  // Collects the errors of `check`; returns whether there were none.
  bool pass(const std::function<void()>& check) {
    try {
      check();
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage && error.code() != ExitCode::data) throw;
      for (std::string& line : error_lines(error.what())) errors.push_back(std::move(line));
      if (code != ExitCode::usage) code = error.code();
      return false;
    }
  }
};

// Estimates the memory. A refusal of `softalign run` on this machine is only a note, because the spec may be meant
// for another machine.
void estimate_memory(const ResolvedSpec<Spec>& resolved, int threads, Findings& findings) {
  const Spec& spec = resolved.spec;
  const auto task = make_plugin<TaskKind>(spec.task);
  DataOutline outline = task->outline();
  if (!outline.measured() && findings.missing == 0 && task->is_read())
    outline = outline_of(task->load(static_cast<std::uint64_t>(spec.seed), {}), spec);
  findings.threads = threads_of_run(threads, spec);
  if (!outline.measured())
    findings.notes.emplace_back(
        "the memory is estimated for the longest sentences that training allows; softalign run "
        "estimates it again for the actual ones");
  try {
    const std::string note =
        check_run_sizes(resolved, outline, findings.threads, {}, &findings.memory);
    if (!note.empty()) findings.notes.push_back(note.substr(note.find(' ') + 1));
  } catch (const SpecError& refusal) {
    findings.fits = false;
    findings.notes.push_back(fmt::format("softalign run would refuse this: {}", refusal.what()));
  }
}

// Returns "245 MB on 2 threads: the program 30 MB, ...; and in turn ...": memory that is always in use, then memory
// that is used in turn, without parts below 0.5 MB.
std::string memory_text(const Findings& findings) {
  std::string held, in_turn;
  for (const MemoryPart& part : findings.memory.parts) {
    if (part.bytes < 0.5e6) continue;
    std::string& list = part.in_turn ? in_turn : held;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", part.what, bytes_text(part.bytes));
  }
  return fmt::format("{} on {}: {}{}{}",
                     bytes_text(findings.memory.bytes()),
                     counted(findings.threads, "thread"),
                     held,
                     in_turn.empty() ? "" : "; and in turn ",
                     in_turn);
}

Findings validated(const std::string& file,
                   const std::vector<Override>& overrides,
                   const std::vector<std::string>& plugins,
                   int threads) {
  Findings findings;
  ResolvedSpec<Spec> resolved;
  if (!findings.pass([&] { resolved = load_with_plugins(load_tree(file, overrides), plugins); }))
    return findings;
  findings.notes = resolved.notes;
  findings.pass(check_metrics);
  const bool possible = findings.pass([&] { check_spec(resolved); });
  const std::size_t before = findings.errors.size();
  findings.pass([&] { findings.run_id = run_name(resolved.spec).run_id; });
  findings.missing = findings.errors.size() - before;
  if (possible) estimate_memory(resolved, threads, findings);
  if (findings.valid() && findings.missing == 0)
    findings.pass([&] { make_plugin<TaskKind>(resolved.spec.task)->check_files(); });
  return findings;
}

std::string verdict(const Findings& findings) {
  if (!findings.valid()) return "not valid";
  if (findings.missing == 0) return "valid, run " + findings.run_id;
  return fmt::format("valid, but {} cannot be read",
                     findings.missing == 1 ? "1 file" : fmt::format("{} files", findings.missing));
}

void print_findings(const std::string& file, const Findings& findings) {
  print_text("{}: {}\n", printable(file, kWhole), verdict(findings));
  if (!findings.memory.parts.empty())
    print_text("  memory{}: {}\n",
               findings.fits ? "" : ", more than the machine has",
               memory_text(findings));
  std::fflush(stdout);  // keeps the order if standard output and standard error are the same file
  for (const std::string& line : findings.errors) print_error(line);
  print_notes(findings.notes);
}

Json json_of(const std::string& file, const Findings& findings) {
  Json entry = {{"file", file},
                {"valid", findings.valid()},
                {"errors", findings.errors},
                {"notes", findings.notes}};
  if (findings.errors.empty()) entry["run_id"] = findings.run_id;
  if (!findings.memory.parts.empty()) {
    Json& memory = entry["memory"] = {{"bytes", findings.memory.bytes()},
                                      {"threads", findings.threads},
                                      {"fits", findings.fits},
                                      {"parts", Json::array()}};
    for (const MemoryPart& part : findings.memory.parts)
      memory["parts"].push_back(
          {{"what", part.what}, {"bytes", part.bytes}, {"in_turn", part.in_turn}});
  }
  return entry;
}

void validate(const ValidateArguments& arguments, Outcome& outcome) {
  std::vector<std::string> files, changes;
  for (const std::string& text : arguments.files)
    (is_override(text) ? changes : files).push_back(text);
  if (files.empty()) throw SpecError("no spec is named; see softalign validate --help");
  const std::vector<Override> overrides = numbered_overrides(changes);
  Json list = Json::array();
  for (const std::string& file : files) {
    const Findings findings = validated(file, overrides, arguments.plugins, arguments.threads);
    if (!findings.errors.empty() && outcome.code != ExitCode::usage) outcome.code = findings.code;
    if (arguments.json)
      list.push_back(json_of(file, findings));
    else
      print_findings(file, findings);
  }
  if (arguments.json) print_json(list);
}

}  // namespace

void add_validate(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<ValidateArguments>();
  CLI::App* command =
      add_command(app,
                  "validate",
                  "check specs and the files that they name, and report every error",
                  "Experiments",
                  "softalign validate configs/*.yaml train.epochs=2");
  command
      ->add_option(
          "specs", arguments->files, "YAML files, and changes to all of them: KEY=VALUE or ~KEY")
      ->required();
  add_plugin_option(*command, arguments->plugins);
  add_threads_option(*command,
                     arguments->threads,
                     "number of threads for the estimate of memory (default: all cores)");
  command->add_flag("--json", arguments->json, "print the findings as JSON");
  command->callback([arguments, &outcome] { validate(*arguments, outcome); });
}

// softalign resolve SPEC [KEY=VALUE..]: prints a spec with every default filled in and the origin
// of every value.

void add_resolve(CLI::App& app, Outcome&) {
  struct Arguments {
    SpecArguments spec;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      add_command(app,
                  "resolve",
                  "print a spec with all its values and the origin of each",
                  "Experiments",
                  "softalign resolve configs/reverse.yaml model.attention.score=dot");
  arguments->spec.add_to(*command);
  command->add_flag(
      "--json", arguments->json, "print the canonical JSON whose SHA-256 is the run's id");
  command->callback([arguments] {
    const auto resolved = load(arguments->spec);
    check_spec(resolved);
    if (arguments->json)
      write_data(run_name(resolved.spec).identity_json + "\n");
    else
      write_data(resolved_yaml(resolved.spec, resolved.origins));
  });
}

}  // namespace softalign::app
