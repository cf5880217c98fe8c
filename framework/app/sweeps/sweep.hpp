// Shared by the sweep commands: finding the list of runs that a command is about, reading its specs, and printing
// and watching the list.
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
  NamedPlugins named = NamedPlugins::load;  // by the file; refused if found through a folder
  std::string out = "results";
  std::vector<std::string> plugins;
  std::vector<std::string> overrides;  // for all runs
  std::string only;                    // runs whose part/variant fits this pattern
  bool tiny = false;

  std::vector<std::string> out_words() const;  // --results, unless it is the default
  bool is_planned() const;                     // returns whether `file` is a folder or a plan
};

// The list that a command works on.
struct SweepSubject {
  Plan plan;
  std::optional<Sweep> sweep;      // from its file, if the command names the file
  std::vector<StudyClaim> claims;  // the sweep's

  // Returns whether tables and verdicts are those of a study.
  bool is_study() const { return sweep && sweep->has_variants(); }
};

// Returns a reader of the specs that the sweep's file names, with the plugins that they and the command line name.
LoadSpec loader(const SweepArguments& arguments);
// Returns a reader of the specs in a sweep's folder, which may come from anyone: it refuses plugins named there.
LoadSpec frozen_loader(const SweepArguments& arguments);

// Returns `--plugin FILE` for each plugin that the user named on the command line or in the sweep's file, because
// workers see only the folder. Throws SpecError if the plan needs another plugin.
std::vector<std::string> plugin_words(const RunList& list, const SweepArguments& arguments);

// Replaces a list's folder by the file from which the list was planned. Throws SpecError if that file is missing.
void find_sweep_file(SweepArguments& arguments);
// Returns the list on disk, or the one that the file describes now. Writes nothing.
SweepSubject subject_of(const SweepArguments& arguments);
// Writes a new list. An existing list of variants grows by the new rows of its file, one of parameters only by
// `extend`. Returns whether the list is new.
bool keep(const RunList& made);
// Writes the subject's list as above and, unless it is a study, replaces it by the one on disk. Prints notes.
void keep(const SweepArguments& arguments, SweepSubject& subject);

// Reads the list on disk. Throws SpecError if there is no list.
RunList planned(const SweepArguments& arguments);

// Reads the file of a list as it is now; nothing if it is missing.
std::optional<Sweep> file_of(const SweepArguments& arguments, const RunList& list);
// Returns claims_of(list, file_of(arguments, list)); an exception becomes a note on standard error.
std::vector<StudyClaim> claims_or_note(const SweepArguments& arguments, const RunList& list);

// Returns "softalign sweep NAME OPTIONS.. SWEEP", quoted for a shell.
std::string sweep_command(const char* name,
                          const std::vector<std::string>& options,
                          const std::filesystem::path& sweep);

// Adds a command of `softalign sweep`, with an example.
CLI::App* add_sweep_command(CLI::App& sweep, const char* name, const char* summary);
void add_plan_options(CLI::App& command, SweepArguments& arguments);

void add_sweep_work(CLI::App& sweep);                   // work and propose
void add_sweep_run(CLI::App& sweep, Outcome& outcome);  // run and retry
void add_sweep_submit(CLI::App& sweep);

// Returns a description of a list: its size, rules and parameters.
std::string plan_text(const RunList& list);

// Returns one line per run: number, configuration, seed, run ID, state.
std::string rows_text(const RunList& list, const std::vector<std::size_t>& rows);

// Returns a table with variants in rows, non-empty length buckets in columns, and n above; "*" marks the best variant
// of a column.
std::string table_text(const StudyTable& table);

// Prints the status of a list; `all`: also that of each row.
ListStatus print_sweep(const RunList& list, bool all);

// Reports failed and unreadable rows on standard error, with the remedy. Returns whether there are any.
bool say_failed(const RunList& list, const std::vector<RowStatus>& rows);

// Prints the question, tables and verdicts of a study.
void print_study(const Sweep& sweep, const SweepOutcome& outcome, bool tiny);

// Describes the fault of a row.
std::string row_fault(const RunList& list, const ListedRun& row, const RowStatus& status);

// Returns "23 complete, 2 running, 35 planned".
std::string counts_text(const std::vector<RowStatus>& rows);

// Formats a value of the list's metric with the digits in which rows of a sweep differ: "1.8302".
std::string value_text(const RunList& list, double value);

// Returns a table of rows with parameters, state, updates and metric; "*" marks the rows of `best`. `active` has
// the latest numbers of active rows. At most `lines` rows are shown, around the first active row; 0: all.
std::string sweep_table(const RunList& list,
                        const std::vector<RowStatus>& rows,
                        const std::vector<Index>& best,
                        const std::vector<ActiveRow>& active,
                        std::size_t columns,
                        std::size_t lines);

// Displays a local run: on a terminal a table that refreshes in place, otherwise a line when a row begins
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
  void row_began(const ListedRun& row, bool resumed) override;
  void row_ended(const ListedRun& row, const RowStatus& status, double seconds) override;
  void tick(const std::vector<ActiveRow>& active, const std::vector<RowStatus>& rows) override;
  bool stop_requested() override;
  void clear();

 private:
  std::string cleared();  // returns the control sequence that removes the table
  using Clock = std::chrono::steady_clock;
  std::string total_text(const std::vector<ActiveRow>& active,
                         const std::vector<RowStatus>& rows) const;

  const RunList& list_;
  std::function<void()> row_done_;
  int workers_;
  std::vector<bool> begins_;  // [rows]: true for the rows of the options
  bool terminal_;
  std::size_t lines_ = 0;  // of the table on the terminal, which are overwritten
  bool stopping_ = false;
  std::string hint_;
  Clock::time_point started_, drawn_;
  RowCosts costs_;
  // Rows that ended in this process, and their seconds.
  std::vector<std::pair<const ListedRun*, double>> ended_;
};

}  // namespace softalign::app
