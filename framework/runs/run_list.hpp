// A list of runs: its rows, its plan on disk, and where things lie in its folder, beside the runs.
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
  // Why the last attempt at a row failed, in one line. An error before the run has a folder (data
  // that is missing) leaves no other trace.
  std::filesystem::path failure(const std::string& run_id) const { return failures() / run_id; }
  std::filesystem::path corrupt() const { return root / ".corrupt"; }
  std::filesystem::path jobs() const { return root / "jobs"; }
  std::filesystem::path submitted() const { return jobs() / "submitted.json"; }
  std::filesystem::path job_logs() const { return jobs() / "logs"; }
};

// To be called before a list's folder is written to, for it may be a stranger's. Throws DataError for the first
// thing that has one of these names and is of another type (check_file_type).
void check_names_in(const ListFolder& list);
// Checks what belongs to one run. below: its folder below the list's.
void check_names_in(const ListFolder& list,
                    const std::string& run_id,
                    const std::filesystem::path& below);

// A sweep or a study is a list of runs once it is planned (plan.hpp). The list is written into its folder, and
// from then on it is the truth: a worker reads it and the frozen base spec beside it, never the
// file that it was planned from. It only grows.
//
//   results/<name>/plan.jsonl, bases/<hash>.yaml
//   results/<sweep>/<run id>/...          a sweep's runs
//   results/<study>/<part>-<variant>/<run id>/...

// Reads a run's spec after its files and overrides were merged: the caller may load plugins
// first.
using LoadSpec = std::function<ResolvedSpec<Spec>(SpecTree)>;

struct ListedRun {
  Index k = 0;  // its index in the list
  std::string run_id = {};
  std::string below = {};  // its folder below the list's: "<run id>", "reverse-dot/<run id>"
  std::string part = {};   // of a study
  std::string variant = {};
  Index seed = 0;
  std::string base = {};           // which of the list's bases
  std::vector<Override> set = {};  // changes to it, besides the seed

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
  std::filesystem::path file;  // the YAML that it was planned from, as it was called
  std::string hash;            // of what rows of parameters are a function of; empty for variants
  std::string base;            // of all rows of parameters
  // The parameters that tell rows apart, with the names that people read (analysis/differences.hpp).
  std::map<std::string, std::string> varied;

  std::map<std::string, Value> bases;  // by name: the beginning of their text's hash
  std::vector<ListedRun> rows;
  std::vector<std::string> notes;  // what a person should know about the planning; not kept

  ListFolder place() const { return {folder}; }
  RunFolder run(const ListedRun& row) const { return {folder / row.below}; }
  const std::string& add_base(Value tree);  // its name
  void set(SweepSettings settings);
  bool has_variants() const { return method == SweepMethod::variants; }
};

// The row's spec, from its frozen base; its run id is checked. Throws DataError when the data has
// changed since the list was written.
ResolvedSpec<Spec> row_spec(const RunList& list, const ListedRun& row, const LoadSpec& load);

// Like row_spec without a run ID to check, for a row that is being planned. compared: see check_spec.
ResolvedSpec<Spec> resolve_row(const RunList& list,
                               const ListedRun& row,
                               const LoadSpec& load,
                               const std::string& compared = {});

// Gives a row that is being planned its run id and its folder.
void name_row(ListedRun& row, const Spec& spec);

// "units=64 score=dot seed=1", "reverse/dot seed=1".
std::string setting_text(const RunList& list, const ListedRun& row);
// Like setting_text without the seed, with a space at the end: "units=64 score=dot "; may be empty.
std::string configuration_text(const RunList& list, const ListedRun& row);
// Rows that differ in nothing but the seed, in the order of the list: [configurations][seeds] indices.
std::vector<std::vector<std::size_t>> configurations(const RunList& list);

// Reads plan.jsonl and the frozen bases: a line of JSON for the list, one for each row, and a last one with
// their number and the digest of all lines before it, so that an edit by hand is found. Throws SpecError for a
// plan that is edited, cut, of another version, or missing.
RunList read_list(const std::filesystem::path& folder);

// Throws SpecError when both have one name and are not lists of the same sweep.
void check_same(const RunList& list, const RunList& before);
// Throws DataError when the rows of both are not the same runs any more.
void check_runs(const RunList& made, const RunList& there);

// Writes the list, or appends its rows to an existing one.
// Throws SpecError if `list` does not begin with the rows on disk, or belongs to another sweep. Several
// processes may do so at once. Returns the number of added rows.
Index write_list(const RunList& list, FileSystem& files = FileSystem::real());

// A list's own copy of a spec that its rows change: its files merged and its paths absolute, without the seed
// and the name, which are the rows'. It knows where everything was written. options: those of the resolved
// spec.
Value frozen_base(Value tree, const Spec& resolved, const OptionNode& options);

// Replaces the file, or the files, that `written` names by those that the option was read as.
void make_paths_whole(Value& written, const OptionNode& option);

// A map as YAML: maps in blocks, everything else on one line. `comment` gives the text behind the line of an
// entry.
using Comment = std::function<std::string(const Value::Entry&)>;
std::string block_text(
    const Value& map, const std::string& indent = "", const Comment& comment = [](const auto&) {
      return std::string();
    });

// Throws SpecError when a base spec that a sweep or a study names is not there, or no file.
void check_base(const std::filesystem::path& base, const Position& named_at);

}  // namespace softalign
