// The settings of a sweep's file: those stored in a plan (how rows are listed, compared and stopped early), and the
// resources that rows request from a scheduler.
#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/config/fields.hpp"
#include "framework/config/options.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/value.hpp"
#include "framework/study/parameter.hpp"

namespace softalign {

struct ComparedMetric {
  std::string name = "dev/loss";
  std::string goal = "";  // minimize or maximize; filled by read_sweep
  template <class V>
  void describe(V& v) {
    v("name", name, "dev metric that runs are compared by, \"dev/\" and the name of a metric");
    v("goal",
      goal,
      "minimize or maximize; the metric's own direction when not given",
      one_of("minimize", "maximize"));
  }
};

struct EarlyTerminateOptions {
  std::string type = "none";
  Index min_updates = 1000;
  Index eta = 3;
  Index startup = 5;
  template <class V>
  void describe(V& v) {
    v("type", type, "rule that stops runs early", one_of("none", "asha", "median"));
    v("min_updates", min_updates, "no run is stopped before this update", at_least(1));
    v("eta",
      eta,
      "ASHA reduction factor: one in eta runs is promoted at each rung",
      between(2, 100));
    v("startup", startup, "median: runs to compare with before any is stopped", at_least(1));
  }
};

enum class SweepMethod { variants, grid, random, zip, optuna };
std::string_view to_string(SweepMethod method);
bool from_string(std::string_view name, SweepMethod& method);

// The settings of a sweep's file that are stored in its plan.
struct SweepSettings {
  std::string name;
  SweepMethod method = SweepMethod::grid;
  ComparedMetric metric;
  EarlyTerminateOptions early_terminate;
  std::vector<Index> seeds = {1};
  Index search_seed = 1;
  std::vector<SweepParameter> parameters;  // in the order of the file: the last varies fastest

  template <class V>
  void describe(V& v) {
    v("name", name);
    v("method", method);
    v("metric", metric);
    v("early_terminate", early_terminate);
    v("seeds", seeds);
    v("search_seed", search_seed);
    v("parameters", parameters);
  }
};

// Reads seeds from a list or {first: 1, count: 3}; on a command line also from 1,2,3 or one seed. Throws SpecError.
std::vector<Index> read_seeds(const Value& value, bool command_line = false);

// Reads the keys seeds, metric and early_terminate. Throws SpecError.
void read_settings(Fields& fields, const Position& where, SweepSettings& settings);

// Returns a time limit in seconds, given as minutes, minutes:seconds, hours:minutes:seconds or
// days-hours[:minutes[:seconds]]; nullopt for other texts.
std::optional<Index> limit_seconds(const std::string& time);

// The resources that a row requests from a scheduler: the `resources:` block of a sweep's file, or a profile file
// with the same keys. They are not part of a run's identity.
//
//   resources: {partition: short, time: "02:00:00", memory: 4G, cpus: 2, setup: [module load gcc]}
struct Resources {
  std::optional<std::string> partition;
  std::optional<std::string> account;
  std::optional<std::string> qos;
  std::optional<std::string> time;
  std::optional<std::string> memory;
  Index cpus = 1;
  Index tasks = 1;
  Index notice = 120;  // seconds
  std::optional<Index> concurrent;
  std::optional<Index> array_size;
  Index max_restarts = 5;
  std::vector<std::string> setup;
  std::vector<std::string> options;

  template <class V>
  void describe(V& v) {
    v("partition", partition, "partition or queue; the scheduler's default when absent");
    v("account", account, "account or project that pays for it");
    v("qos", qos, "quality of service");
    v("time", time, "limit of one start of one row: \"hours:minutes:seconds\" or 120 minutes");
    v("memory", memory, "memory of a row: 4G; with several tasks see schedulers.md");
    v("cpus", cpus, "processors of a row, or of each of its tasks, and threads", between(1, 1024));
    v("tasks", tasks, "MPI ranks that share a row; a power of two", between(1, 1024));
    v("notice",
      notice,
      "seconds before the time limit at which a row stops and saves; Slurm may be 60 s early",
      between(60, 86400));
    v("concurrent",
      concurrent,
      "rows of one job array that run at the same time, at most",
      at_least(1));
    v("array_size", array_size, "rows of one job array, at most", at_least(1));
    v("max_restarts",
      max_restarts,
      "how often an interrupted row is started again by itself",
      between(0, 1000));
    v("setup", setup, "lines of shell before a row starts: module load gcc");
    v("options",
      options,
      "further options of the scheduler, as its scripts have them: --constraint=avx512");
    const std::optional<Index> seconds = limit_seconds(time.value_or("999999"));
    v.check(
        "time", seconds.has_value(), "give minutes, \"hours:minutes:seconds\" or \"days-hours\"");
    v.check("notice",
            !seconds || notice <= *seconds,
            "it is longer than the time limit, so rows would stop at once");
    v.check("tasks", std::has_single_bit(static_cast<std::uint64_t>(tasks)), "give a power of two");
    for (const auto& [name, word] : {std::pair("partition", &partition),
                                     std::pair("account", &account),
                                     std::pair("qos", &qos),
                                     std::pair("memory", &memory)})
      v.check(
          name, word->value_or("").find_first_of(" \t\n") == std::string::npos, "give one word");
    for (const std::vector<std::string>* lines : {&setup, &options})
      for (const std::string& line : *lines)
        v.check(lines == &setup ? "setup" : "options",
                line.find('\n') == line.npos,
                "give one line each");
  }
};

struct PlacedResources {
  Resources values;
  Position where;  // of the block or the profile; without a line if neither was given
};

// Merges the keys of `profile` over those of `block`; either may be absent. Throws SpecError with
// file, line and column for unknown keys and illegal values.
PlacedResources read_resources(const Value* block,
                               const std::optional<std::filesystem::path>& profile);

}  // namespace softalign
