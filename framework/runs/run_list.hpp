// A list of runs: its rows, its plan on disk, and the other files of its folder.
//
//   results/<name>/plan.jsonl, bases/<hash>.yaml, sweep.h5, study.json
//                  logs/<run id>.log, failures/<run id>, .corrupt/<run id>-1/
//                  optuna.journal, optuna.lock, optuna.workers
//                  jobs/submitted.json, jobs/array-001.sh, jobs/logs/row-12.log
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/config/merge.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/writer.hpp"
#include "framework/record/file.hpp"
#include "framework/study/sweep.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

struct ListFolder {
  std::filesystem::path root;

  std::filesystem::path plan() const { return root / "plan.jsonl"; }
  std::filesystem::path bases() const { return root / "bases"; }
  std::filesystem::path base(const std::string& name) const { return bases() / (name + ".yaml"); }
  std::filesystem::path table() const { return root / "sweep.h5"; }
  std::filesystem::path study() const { return root / "study.json"; }
  std::filesystem::path logs() const { return root / "logs"; }
  std::filesystem::path log(const std::string& run_id) const { return logs() / (run_id + ".log"); }
  std::filesystem::path failures() const { return root / "failures"; }
  // The file with the reason why the last attempt at a row failed, in one line. It is the only trace of an error
  // before the run has a folder, such as missing data.
  std::filesystem::path failure(const std::string& run_id) const { return failures() / run_id; }
  std::filesystem::path corrupt() const { return root / ".corrupt"; }
  std::filesystem::path jobs() const { return root / "jobs"; }
  std::filesystem::path submitted() const { return jobs() / "submitted.json"; }
  std::filesystem::path job_logs() const { return jobs() / "logs"; }
};

// Call this before writing to a list's folder, which may come from someone else. Throws DataError for the first
// of these names that has another file type (check_file_type).
void check_names_in(const ListFolder& list);
// Checks the names of one run. below: its folder, relative to the list's.
void check_names_in(const ListFolder& list,
                    const std::string& run_id,
                    const std::filesystem::path& below);

// A planned sweep or study is a list of runs (plan.hpp). The list is written into its folder, and from then on
// workers read it and the frozen base specs next to it, never the file that it was planned from. It only grows.
//
//   results/<name>/plan.jsonl, bases/<hash>.yaml
//   results/<sweep>/<run id>/...          a sweep's runs
//   results/<study>/<part>-<variant>/<run id>/...

// Reads a run's spec from merged files and overrides; the caller may load plugins first.
using LoadSpec = std::function<ResolvedSpec<Spec>(SpecTree)>;

struct ListedRun {
  Index k = 0;  // its index in the list
  std::string run_id = {};
  std::string below = {};  // its folder, relative to the list's: "<run id>", "reverse-dot/<run id>"
  std::string part = {};   // of a study
  std::string variant = {};
  Index seed = 0;
  std::string base = {};           // name of one of the list's bases
  std::vector<Override> set = {};  // changes to it, without the seed

  template <class V>
  void describe(V& v) {
    v("k", k);
    v("run_id", run_id);
    v("folder", below);
    v("part", part);
    v("variant", variant);
    v("seed", seed);
    v("base", base);
    v("set", set);
  }
};

struct RunList : SweepSettings {
  std::filesystem::path folder;
  std::filesystem::path file;  // the planned YAML file, as named on the command line
  std::string hash;            // of the settings that determine rows; empty for variants
  std::string base;            // of all rows of parameters
  // The parameters in which rows differ, with their short names (analysis/differences.hpp).
  std::map<std::string, std::string> varied;

  std::map<std::string, Value> bases;  // by name: the first digits of the hash of their text
  std::vector<ListedRun> rows;
  std::vector<std::string> notes;  // messages of the planning for the user; not stored

  ListFolder place() const { return {folder}; }
  RunFolder run(const ListedRun& row) const { return {folder / row.below}; }
  const std::string& add_base(Value tree);  // returns its name
  void set(SweepSettings settings);
  bool has_variants() const { return method == SweepMethod::variants; }
};

// Returns the row's spec, from its frozen base, and checks its run ID. Throws DataError if the data has changed
// since the list was written.
ResolvedSpec<Spec> row_spec(const RunList& list, const ListedRun& row, const LoadSpec& load);

// Like row_spec without checking a run ID, for a row that is being planned. compared: see check_spec.
ResolvedSpec<Spec> resolve_row(const RunList& list,
                               const ListedRun& row,
                               const LoadSpec& load,
                               const std::string& compared = {});

// Sets run ID and folder of a row that is being planned.
void name_row(ListedRun& row, const Spec& spec);

// Returns "units=64 score=dot seed=1", "reverse/dot seed=1".
std::string setting_text(const RunList& list, const ListedRun& row);
// Like setting_text without the seed, with a space at the end: "units=64 score=dot "; may be empty.
std::string configuration_text(const RunList& list, const ListedRun& row);
// Returns the rows that differ only in the seed, in the order of the list: indices [configurations][seeds].
std::vector<std::vector<std::size_t>> configurations(const RunList& list);

// Reads plan.jsonl and the frozen bases. The plan has a line of JSON for the list, one for each row, and a last one
// with their number and the digest of all lines before it. Throws SpecError if the plan is missing, truncated, edited
// by hand, or of another version.
RunList read_list(const std::filesystem::path& folder);

// Throws SpecError if both have the same name, but belong to different sweeps.
void check_same(const RunList& list, const RunList& before);
// Throws DataError if the rows of both are not the same runs any more.
void check_runs(const RunList& made, const RunList& there);

// Writes the list, or appends its rows to an existing one.
// Throws SpecError if `list` does not begin with the rows on disk, or belongs to another sweep. Several
// processes may call this at once. Returns the number of added rows.
Index write_list(const RunList& list, FileSystem& files = FileSystem::real());

// Returns the list's copy of a base spec, with merged files and absolute paths, without the seed and the name, which
// each row has. Its values keep their file positions. options: those of the resolved spec.
Value frozen_base(Value tree, const Spec& resolved, const OptionNode& options);

// Replaces the file names in `written` by the paths from which the option was read.
void make_paths_whole(Value& written, const OptionNode& option);

// Returns a map as YAML: maps in block style, everything else on one line. `comment` returns the comment at the end of
// an entry's line.
using Comment = std::function<std::string(const Value::Entry&)>;
std::string block_text(
    const Value& map, const std::string& indent = "", const Comment& comment = [](const auto&) {
      return std::string();
    });

// Throws SpecError if the base spec of a sweep or a study does not exist or is not a file.
void check_base(const std::filesystem::path& base, const Position& named_at);

}  // namespace softalign
