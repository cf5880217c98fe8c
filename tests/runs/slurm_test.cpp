// Slurm's side of sweeps where no Slurm is needed: job arrays, batch scripts, resources. Its programs
// are stand-ins here; tests/slurm has real ones.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/config/help.hpp"
#include "framework/config/yaml.hpp"
#include "framework/runs/slurm_submit.hpp"
#include "framework/study/sweep.hpp"
#include "tests/runs/stand_ins.hpp"

using namespace softalign;
using namespace softalign::test;
namespace {

std::vector<Index> rows_up_to(Index count) {
  std::vector<Index> rows(usize(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::string fault_of(const std::string& resources) {
  const Value block = parse_yaml(resources, "sweep.yaml");
  return refusal([&] { read_resources(&block, {}); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(slurm)

BOOST_AUTO_TEST_CASE(arrays_never_hold_more_than_the_cluster_takes) {
  // MaxArraySize 10: indices 0..9.
  const auto arrays = row_arrays(rows_up_to(12), cluster(10));
  BOOST_REQUIRE(arrays.size() == 2);
  BOOST_TEST(arrays[0].offset == 0);
  BOOST_TEST(ranges_text(arrays[0].rows) == "0-9");
  BOOST_TEST(arrays[1].offset == 10);
  BOOST_TEST(ranges_text(arrays[1].rows) == "10-11");

  for (const Index size : {1, 2, 9, 10, 11, 1001, 5000, 100001}) {
    std::vector<Index> all_rows;
    for (const RowArray& array : row_arrays(rows_up_to(2500), cluster(size)))
      for (const Index row : array.rows) {
        BOOST_REQUIRE(row >= array.offset);
        BOOST_REQUIRE(row - array.offset < size);
        all_rows.push_back(row);
      }
    BOOST_TEST(all_rows == rows_up_to(2500));
  }

  SlurmConfig few = cluster(1001);
  few.max_tasks = 5;
  const auto pieces = row_arrays({1, 3, 5, 7, 9, 11, 999, 1000}, few);
  BOOST_REQUIRE(pieces.size() == 3);
  BOOST_TEST(ranges_text(pieces[0].rows) == "1,3,5,7,9");
  BOOST_TEST(ranges_text(pieces[1].rows) == "11,999");
  BOOST_TEST(pieces[2].offset == 1000);
}

BOOST_AUTO_TEST_CASE(ranges) {
  BOOST_TEST(ranges_text({}) == "");
  BOOST_TEST(ranges_text({4}) == "4");
  BOOST_TEST(ranges_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
}

BOOST_AUTO_TEST_CASE(the_configuration_is_read_from_scontrol) {
  const SlurmConfig config = SlurmConfig::parse(
      "Configuration data as of 2026-11-20T18:00:00\n"
      "ClusterName             = oak\n"
      "MaxArraySize            = 2001\n"
      "PrivateData             = accounts,jobs\n"
      "SchedulerParameters     = bf_max=3,max_array_tasks=500,defer\n");
  BOOST_TEST(config.cluster == "oak");
  BOOST_TEST(config.max_array_size == 2001);
  BOOST_TEST(config.max_tasks.value_or(0) == 500);
  BOOST_TEST(config.private_jobs);
  BOOST_TEST(!SlurmConfig::parse("PrivateData = none\n").private_jobs);
}

BOOST_AUTO_TEST_CASE(time_limits_are_slurms) {
  BOOST_TEST(*slurm_seconds("90") == 5400);
  BOOST_TEST(*slurm_seconds("1:30") == 90);
  BOOST_TEST(*slurm_seconds("02:00:00") == 7200);
  BOOST_TEST(*slurm_seconds("1-12") == 129600);
  BOOST_TEST(*slurm_seconds("1-0:30") == 88200);
  BOOST_TEST(std::isinf(*slurm_seconds("UNLIMITED")));
  for (const char* wrong : {"", "2h", "1:2:3:4", "-5", "1.5", " 3"})
    BOOST_TEST(!slurm_seconds(wrong).has_value());
}

BOOST_AUTO_TEST_CASE(wrong_resources_are_refused_where_they_stand) {
  BOOST_TEST(fault_of("{partition: short, time: \"02:00:00\", memory: 4G}") == "accepted");
  for (const auto& [text, place] :
       std::map<std::string, std::string>{{"partitoin: short", "1:1"},
                                          {"cpus: 2\ntime: 2h\n", "2:7"},
                                          {"cpus: 0", "1:7"},
                                          {"time: 1\nnotice: 120\n", "2:9"},
                                          {"options: [constraint=gpu]", "1:10"}})
    BOOST_TEST(places_of(fault_of(text)) == place, fault_of(text));
}

BOOST_AUTO_TEST_CASE(a_sweep_with_wrong_resources_is_refused_when_it_is_read) {
  const StandIns folder;
  const auto sweep = [&](const std::string& resources) {
    const fs::path file = folder.folder() / "sweep.yaml";
    std::ofstream(file) << "name: a\nbase: b.yaml\nparameters: {train.epochs: {value: 1}}\n"
                        << "resources: " << resources << "\n";
    return read_sweep(file);
  };
  BOOST_TEST(sweep("{cpus: 2}").resources.is_map());
  BOOST_TEST(contains(refusal([&] { sweep("{cpu: 2}"); }), "sweep.yaml:4:13: "));
}

// Its lines that are comments are options too: '#account: my_group'.
BOOST_AUTO_TEST_CASE(the_example_profile_has_every_key_with_its_limits) {
  std::ifstream file(fs::path(SOFTALIGN_SOURCE_DIR) / "configs/clusters/slurm.yaml");
  std::string text;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line); text += lines.back() + "\n")
    lines.push_back(line.starts_with('#') && line[1] != ' ' ? line.substr(1) : line);
  const Value block = parse_yaml(text, "slurm.yaml");
  const PlacedResources resources = read_resources(&block, {});
  for (const OptionHelp& option : option_help(SlurmResources{})) {
    BOOST_TEST_CONTEXT(option.path) {
      const auto origin = resources.origins.find(option.path);
      BOOST_REQUIRE((origin != resources.origins.end()));
      const std::string& line = lines.at(usize(origin->second.line - 1));
      BOOST_TEST((contains(line, "# ") && contains(line, option.legal)));
    }
  }
  const SlurmResources defaults;  // what the file shows is what holds without it
  BOOST_TEST(resources.values.notice == defaults.notice);
  BOOST_TEST(resources.values.max_restarts == defaults.max_restarts);
}

BOOST_AUTO_TEST_CASE(a_profile_lies_over_the_block_and_both_keep_their_places) {
  const StandIns folder;
  const fs::path profile = folder.folder() / "profile.yaml";
  std::ofstream(profile) << "# ours\npartition: long\noptions: [--constraint=avx512]\n";
  const Value block = parse_yaml("{partition: short, qos: low, cpus: 2}", "sweep.yaml");
  const PlacedResources resources = read_resources(&block, profile);
  BOOST_TEST(*resources.values.partition == "long");
  BOOST_TEST(*resources.values.qos == "low");
  BOOST_TEST(resources.values.cpus == 2);
  const auto place = [&](const std::string& words) { return resources.place_of(words).str(); };
  BOOST_TEST(place("allocation failure: Invalid partition name specified") ==
             profile.string() + ":2:12");
  BOOST_TEST(place("Invalid qos specification") == "sweep.yaml:1:25");
  BOOST_TEST(place("unrecognized option '--constraint=avx512'") == profile.string() + ":3:10");
  BOOST_TEST(place("something else").starts_with(profile.string()));
}

BOOST_AUTO_TEST_CASE(a_script_says_everything_and_bash_understands_it) {
  ScriptSetting s =
      setting("/data/sweep's 100%",
              "{partition: short, account: lab, qos: low, time: \"02:00:00\", memory: 4G,"
              " cpus: 3, notice: 90, concurrent: 4, max_restarts: 7,"
              " setup: [module load gcc], options: [--constraint=avx512]}");
  const std::string text = batch_script(s, {1000, {1000, 1001, 1005}});
  for (const char* line : {"#SBATCH --array=0-1,5%4\n",
                           "#SBATCH --output=\"/data/sweep's 100%%/slurm/logs/row-1%3a.log\"\n",
                           "#SBATCH --chdir=\"/data/sweep's 100%\"\n",
                           "#SBATCH --open-mode=append\n",
                           "#SBATCH --requeue\n",
                           "#SBATCH --signal=USR1@90\n",
                           "#SBATCH --cpus-per-task=3\n",
                           "#SBATCH --partition=short\n",
                           "#SBATCH --account=lab\n",
                           "#SBATCH --qos=low\n",
                           "#SBATCH --time=02:00:00\n",
                           "#SBATCH --mem=4G\n",
                           "#SBATCH --constraint=avx512\n",
                           "\nmodule load gcc\n"})
    BOOST_TEST(contains(text, line), line);
  BOOST_TEST(run_program({"bash", "-n"}, text).succeeded());
  BOOST_CHECK_THROW(batch_script(setting("/data/a\"b"), {0, {0}}), SpecError);
}

// The script itself, with srun and scontrol that only note how they were called.
BOOST_AUTO_TEST_CASE(only_an_interrupted_row_is_started_again_and_not_for_ever) {
  const auto requeued = [](int status, int restarts) {
    const StandIns programs;
    programs.add("srun", fmt::format("exit {}", status));
    programs.add("scontrol", "");
    ScriptSetting s = setting(programs.folder(), "{max_restarts: 2, setup: [export A=1]}");
    const std::string text =
        fmt::format("export SLURM_ARRAY_JOB_ID=12 SLURM_ARRAY_TASK_ID=3 SLURM_RESTART_COUNT={}\n{}",
                    restarts,
                    batch_script(s, {1000, {1003}}));
    const ProgramOutcome ended = run_program({"bash"}, text);
    BOOST_TEST(contains(ended.output, "row 1003: Slurm job 12_3"));
    std::ifstream calls(programs.folder() / "scontrol.calls");
    std::string call;
    std::getline(calls, call);
    if (!call.empty()) BOOST_TEST(call == "requeue 12_3");
    BOOST_TEST(ended.status == (call.empty() ? status : 0));
    return !call.empty();
  };
  BOOST_TEST(requeued(75, 0));
  BOOST_TEST(requeued(75, 1));
  BOOST_TEST(!requeued(75, 2));
  for (const int status : {0, 1, 2, 3, 137, 143}) BOOST_TEST(!requeued(status, 0));
}

BOOST_AUTO_TEST_CASE(a_failed_set_up_line_stops_the_row) {
  const StandIns programs;
  programs.add("srun", "");
  const ScriptSetting s = setting(programs.folder(), "{setup: [\"false\", export A=1]}");
  const ProgramOutcome ended = run_program(
      {"bash"}, "export SLURM_ARRAY_JOB_ID=12 SLURM_ARRAY_TASK_ID=3\n" + batch_script(s, {0, {3}}));
  BOOST_TEST(ended.status == 1);
  BOOST_TEST(programs.calls("srun") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
