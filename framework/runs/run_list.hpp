// A list of runs: what a sweep or a study is once it is planned. It is written into its folder, and
// from then on it is the truth: whoever works on a run reads it and the frozen base spec beside it,
// never the file that it was planned from. It only grows.
//
//   results/<name>/plan.jsonl, bases/<hash>.yaml
//   results/<sweep>/<run id>/...          a sweep's runs
//   results/<study>/<part>-<variant>/<run id>/...
//
// Who makes the rows: plan.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/config/override.hpp"
#include "framework/config/spec.hpp"
#include "framework/record/run_folder.hpp"
#include "framework/runs/list_folder.hpp"
#include "framework/study/sweep.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// How a run's spec is read once its files and overrides are merged: whoever calls may load plugins
// first.
using LoadSpec = std::function<ResolvedSpec<Spec>(SpecTree)>;

struct ListedRun {
  Index k = 0;  // its place in the list
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

// The same without a run id to check, of a row that is being planned. compared: see check_spec.
ResolvedSpec<Spec> resolve_row(const RunList& list,
                               const ListedRun& row,
                               const LoadSpec& load,
                               const std::string& compared = {});

// Gives a row that is being planned its run id and its folder.
void name_row(ListedRun& row, const Spec& spec);

// "units=64 score=dot seed=1", "reverse/dot seed=1".
std::string setting_text(const RunList& list, const ListedRun& row);
// The same without the seed, with a blank behind it: "units=64 score=dot "; may be empty.
std::string configuration_text(const RunList& list, const ListedRun& row);
// Rows that differ in nothing but the seed, in the order of the list: [configurations][seeds] places.
std::vector<std::vector<std::size_t>> configurations(const RunList& list);

}  // namespace softalign
