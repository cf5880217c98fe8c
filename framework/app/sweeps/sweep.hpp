// Shared by the commands of sweeps: which list of runs a command is about, how its specs are read, and the list
// as people read and watch it.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "framework/app/command.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/local_run.hpp"
#include "framework/runs/results.hpp"

namespace softalign::app {

struct SweepArguments {
  std::string file;                         // the sweep's YAML, its folder, or its plan
  NamedPlugins named = NamedPlugins::load;  // by the file, which a folder may have named itself
  std::string out = "results";
  std::vector<std::string> plugins;
  std::vector<std::string> overrides;  // of all runs
  std::string only;                    // runs whose part/variant fits this pattern
  bool tiny = false;

  std::vector<std::string> out_words() const;  // --results, where it is needed
  bool is_planned() const;                     // the file is a folder or a plan
};

// The list that a command works on.
struct SweepSubject {
  Plan plan;
  std::optional<Sweep> sweep;      // as its file says, where the command names that
  std::vector<StudyClaim> claims;  // the sweep's

  // Tables and verdicts are those of a study.
  bool is_study() const { return sweep && sweep->has_variants(); }
};

// Reads the specs that the sweep's file names, with the plugins that they, and the command line, name.
LoadSpec loader(const SweepArguments& arguments);
// Reads the specs in a sweep's folder, which may come from anywhere.
LoadSpec frozen_loader(const SweepArguments& arguments);

// `--plugin FILE` for each plugin that the user named, on the command line or in the sweep's file: workers
// see a folder alone. Throws SpecError when the plan needs a plugin that is not named.
std::vector<std::string> plugin_words(const RunList& list, const SweepArguments& arguments);

// Replaces a list's folder by the file that it was planned from. Throws SpecError when that is gone.
void find_sweep_file(SweepArguments& arguments);
// The list on disk, or the one that a file stands for now. Nothing is written.
SweepSubject subject_of(const SweepArguments& arguments);
// Writes a list that is new. One of variants grows by what is new in its file, one of parameters by `extend`
// alone. Returns whether there was none.
bool keep(const RunList& made);
// Keeps the subject's list, which is then the one on disk. Notes go to standard error.
void keep(const SweepArguments& arguments, SweepSubject& subject);

// The list on disk. Throws SpecError when there is none.
RunList planned(const SweepArguments& arguments);

// The file of a list, as it is now; nothing where it is gone.
std::optional<Sweep> file_of(const SweepArguments& arguments, const RunList& list);
// claims_of(list, file_of(arguments, list)) with a note on standard error in place of an exception.
std::vector<StudyClaim> claims_or_note(const SweepArguments& arguments, const RunList& list);

// "softalign sweep NAME OPTIONS.. SWEEP", as a shell takes it.
std::string sweep_command(const char* name,
                          const std::vector<std::string>& options,
                          const std::filesystem::path& sweep);

// A command of `softalign sweep`, with an example.
CLI::App* add_sweep_command(CLI::App& sweep, const char* name, const char* summary);
void add_plan_options(CLI::App& command, SweepArguments& arguments);

void add_sweep_work(CLI::App& sweep);                   // work and propose
void add_sweep_run(CLI::App& sweep, Outcome& outcome);  // run and retry
void add_sweep_submit(CLI::App& sweep);

// How the list was understood: its size and rules, its parameters.
std::string plan_text(const RunList& list);

// One line a run: number, configuration, seed, run id, state.
std::string rows_text(const RunList& list, const std::vector<std::size_t>& rows);

// Variants in rows, lengths that have sentences in columns, n above; "*" marks the best variant of a
// column.
std::string table_text(const StudyTable& table);

// Prints how the rows stand; `all`: each of them.
ListStatus print_sweep(const RunList& list, bool all);

// Says on standard error that rows failed, or cannot be read, and what to do about it. Returns whether there are any.
bool say_failed(const RunList& list, const std::vector<RowStatus>& rows);

// The question, tables and verdicts of a study.
void print_study(const Sweep& sweep, const SweepOutcome& outcome, bool tiny);

// The fault of a row.
std::string row_fault(const RunList& list, const ListedRun& row, const RowStatus& status);

// "23 complete, 2 running, 35 planned".
std::string counts_text(const std::vector<RowStatus>& rows);

// A value of the list's metric, with the digits that rows of a sweep differ in: "1.8302".
std::string value_text(const RunList& list, double value);

// Every row with its parameters, state, updates and metric; "*" marks those of `best`. `active` knows more
// of those that are worked on. At most `lines` rows, those that are worked on among them; 0: all.
std::string sweep_table(const RunList& list,
                        const std::vector<RowStatus>& rows,
                        const std::vector<Index>& best,
                        const std::vector<ActiveRow>& active,
                        std::size_t columns,
                        std::size_t lines);

// Watches a local run: on a terminal a table that refreshes in place, else a line when a row begins
// or ends.
class SweepDisplay final : public ListWatcher {
 public:
  // row_done: called after each row.
  SweepDisplay(const RunList& list,
               const LocalRunOptions& options,
               LoadSpec load,
               std::function<void()> row_done);
  ~SweepDisplay() override { clear(); }
  SweepDisplay(const SweepDisplay&) = delete;
  SweepDisplay& operator=(const SweepDisplay&) = delete;

  void message(std::string_view text) override;
  void row_began(const ListedRun& row) override;
  void row_ended(const ListedRun& row, const RowStatus& status, double seconds) override;
  void tick(const std::vector<ActiveRow>& active, const std::vector<RowStatus>& rows) override;
  bool stop_requested() override;
  void clear();

 private:
  std::string cleared();  // what takes the table away
  using Clock = std::chrono::steady_clock;
  std::string total_text(const std::vector<ActiveRow>& active,
                         const std::vector<RowStatus>& rows) const;

  const RunList& list_;
  std::function<void()> row_done_;
  int workers_;
  std::vector<bool> begins_;  // [rows]: those of the options
  bool terminal_;
  std::size_t lines_ = 0;  // that stand on the terminal and are drawn over
  bool stopping_ = false;
  std::string hint_;
  Clock::time_point started_, drawn_;
  RowCosts costs_;
  // Rows that ran to their end here, seconds.
  std::vector<std::pair<const ListedRun*, double>> ended_;
};

}  // namespace softalign::app
