// Submitting sweeps without a real scheduler: templates, scripts, the rows submitted, and the conclusions from the
// scheduler's answers. Its programs are stand-ins here; tests/slurm uses real ones.
#include "framework/runs/submit.hpp"

#include <pwd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/stored.hpp"
#include "framework/config/help.hpp"
#include "framework/runs/run_list.hpp"
#include "framework/study/sweep.hpp"
#include "tests/runs/stand_ins.hpp"

using namespace softalign;
using namespace softalign::test;
namespace {

using Rows = std::vector<Index>;

const std::vector<std::string> kSchedulers = {"slurm", "pbs", "lsf", "sge", "local"};
const std::string kAll =
    "{partition: short, account: lab, qos: low, time: \"02:00:00\", memory: 4G, cpus: 3,"
    " notice: 90, concurrent: 4, max_restarts: 7, setup: [module load gcc], options: [--x=1, --y]}";

std::string fault_of(const std::string& resources) {
  const Value block = parse_yaml(resources, "sweep.yaml");
  return refusal([&] { read_resources(&block, {}); });
}

// Creates the log folder that scripts write to, and returns `folder`.
const fs::path& with_logs(const fs::path& folder) {
  fs::create_directories(folder / "jobs/logs");
  return folder;
}

std::string log_of(const fs::path& folder, const std::string& name) {
  return bytes_of(folder / "jobs/logs" / name);
}

// Runs a script of two rows, 7 and 1005, as a task of a job in `environment`.
ProgramOutcome run_script(const SubmitSetting& s, const std::string& environment) {
  const fs::path script = with_logs(s.folder) / "jobs/array-001.sh";
  write_file(script, array_script(s, {7, 1005}, "jobs/array-001.sh"));
  return run_program(
      {"bash", "-c", "cd " + s.folder.string() + "; " + environment + " bash jobs/array-001.sh"});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(submitting)

BOOST_AUTO_TEST_CASE(a_line_or_part_without_a_value_is_dropped) {
  const Placeholders values = {{"a", "1"}, {"none", ""}, {"options", "x y\nz\n"}};
  BOOST_TEST(expand("-{a}\nb {none}\nc\n", values, "f") == "-1\nc\n");
  BOOST_TEST(expand("{a}{?,{none}?}{?;{a}?}", values, "f") == "1;1\n");
  BOOST_TEST(expand("#X {options}\n{a}\n", values, "f") == "#X x y\n#X z\n1\n");
  BOOST_TEST(expand("#X {options}\n", {{"options", ""}}, "f") == "");
  BOOST_TEST(expand("${a} { a; } {a,b}", values, "f") == "${a} { a; } {a,b}\n");
  const std::string message = refusal([&] { expand("{b}", values, "site.yaml"); });
  BOOST_TEST(message.starts_with("site.yaml: there is no {b}, only a, none, options"));
  BOOST_TEST(contains(refusal([&] { expand("{?{a}", values, "f"); }), "without ?}"));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_scheduler_is_refused) {
  const StandIns folder;
  const std::string file = folder.folder() / "site.yaml";
  const auto fault = [&](const std::string& change) {
    write_file(
        file,
        "{script: 'launch restart {work}', submit: a, job: (a), status: a, task: (a), cancel: a, " +
            change + "}");
    return refusal([&] { Scheduler::read(file); });
  };
  BOOST_TEST(fault("check: b") == "accepted");
  BOOST_TEST(contains(fault("chek: b"), "did you mean"));
  BOOST_TEST(contains(fault("first_index: 2"), "1:"));
  write_file(
      file,
      "{script: 'launch restart {work}', submit: a, job: a, status: a, task: (a), cancel: a}");
  BOOST_TEST(contains(refusal([&] { Scheduler::read(file); }), "job: a: is not a regular"));
  write_file(file, "{script: a, submit: a, job: (a), status: a, task: (a), cancel: a}");
  BOOST_TEST(contains(refusal([&] { Scheduler::read(file); }), "{work} is missing"));
  write_file(file, "{script: '{work}', submit: a, job: (a), status: a, task: (a), cancel: a}");
  BOOST_TEST(contains(refusal([&] { Scheduler::read(file); }), "launch is missing"));
  write_file(file,
             "{script: 'launch restart {work}', submit: a, job: (a), status: echo 1_3, task: (.*), "
             "cancel: a}");
  BOOST_TEST(contains(message_of<MachineError>([&] {
                        Scheduler::read(file).waiting("array-001", "1", folder.folder());
                      }),
                      "does not answer about job 1: task's group is not an index: 1_3"));
  write_file(file,
             "{script: 'launch restart {work}', submit: a, job: (a), status: 'echo down >&2; "
             "false', task: (a), "
             "cancel: a}");
  BOOST_TEST(contains(message_of<MachineError>([&] {
                        Scheduler::read(file).waiting("array-001", "1", folder.folder());
                      }),
                      "does not answer about job 1: down"));
  BOOST_TEST(contains(refusal([] { Scheduler::read("torque"); }), "no such scheduler"));
}

BOOST_AUTO_TEST_CASE(ranges) {
  BOOST_TEST(ranges_text({}) == "");
  BOOST_TEST(ranges_text({4}) == "4");
  BOOST_TEST(ranges_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
}

BOOST_AUTO_TEST_CASE(time_limits_have_slurms_forms) {
  BOOST_TEST(*limit_seconds("90") == 5400);
  BOOST_TEST(*limit_seconds("1:30") == 90);
  BOOST_TEST(*limit_seconds("02:00:00") == 7200);
  BOOST_TEST(*limit_seconds("1-12") == 129600);
  BOOST_TEST(*limit_seconds("1-0:30") == 88200);
  for (const char* wrong : {"", "2h", "1:2:3:4", "-5", "1.5", " 3"})
    BOOST_TEST(!limit_seconds(wrong).has_value());
}

BOOST_AUTO_TEST_CASE(wrong_resources_are_refused_where_they_stand) {
  BOOST_TEST(fault_of("{partition: short, time: \"02:00:00\", memory: 4G}") == "accepted");
  for (const auto& [text, place] :
       std::map<std::string, std::string>{{"partitoin: short", "1:1"},
                                          {"cpus: 2\ntime: 2h\n", "2:7"},
                                          {"cpus: 0", "1:7"},
                                          {"time: 1\nnotice: 120\n", "2:9"},
                                          {"tasks: 3\n", "1:8"},
                                          {"memory: 4 GB", "1:9"},
                                          {"options: [\"a\\nb\"]", "1:10"}})
    BOOST_TEST(places_of(fault_of(text)) == place, fault_of(text));
}

BOOST_AUTO_TEST_CASE(a_sweep_with_wrong_resources_is_refused_when_it_is_read) {
  const StandIns folder;
  const auto sweep = [&](const std::string& resources) {
    const fs::path file = folder.folder() / "sweep.yaml";
    write_file(file,
               "name: a\nbase: b.yaml\nparameters: {train.epochs: {value: 1}}\nresources: " +
                   resources + "\n");
    return read_sweep(file);
  };
  BOOST_TEST(sweep("{cpus: 2}").resources.is_map());
  BOOST_TEST(contains(refusal([&] { sweep("{cpu: 2}"); }), "sweep.yaml:4:13: "));
}

// Lines that are commented out are options, too: '#account: my_group'.
BOOST_AUTO_TEST_CASE(the_example_profile_has_every_key_with_its_limits) {
  std::ifstream file(fs::path(SOFTALIGN_SOURCE_DIR) / "configs/clusters/cluster.yaml");
  std::string text;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line); text += lines.back() + "\n")
    lines.push_back(line.starts_with('#') && line[1] != ' ' ? line.substr(1) : line);
  const Value block = parse_yaml(text, "cluster.yaml");
  Resources resources;
  const Origins origins = read_options(block, resources, "the profile").origins;
  for (const OptionHelp& option : option_help(Resources{})) {
    BOOST_TEST_CONTEXT(option.path) {
      const auto origin = origins.find(option.path);
      BOOST_REQUIRE((origin != origins.end()));
      const std::string& line = lines.at(usize(origin->second.line - 1));
      BOOST_TEST((contains(line, "# ") && contains(line, option.legal)));
    }
  }
  const Resources defaults;  // the file must show the defaults
  BOOST_TEST(resources.notice == defaults.notice);
  BOOST_TEST(resources.max_restarts == defaults.max_restarts);
}

BOOST_AUTO_TEST_CASE(a_profile_lies_over_the_block) {
  const StandIns folder;
  const fs::path profile = folder.folder() / "profile.yaml";
  write_file(profile, "partition: long\n");
  const Value block = parse_yaml("{partition: short, qos: low, cpus: 2}", "sweep.yaml");
  const PlacedResources resources = read_resources(&block, profile);
  BOOST_TEST(*resources.values.partition == "long");
  BOOST_TEST(*resources.values.qos == "low");
  BOOST_TEST(resources.values.cpus == 2);
  BOOST_TEST(resources.where.str().starts_with(profile.string()));
}

BOOST_AUTO_TEST_CASE(bash_understands_the_scripts_of_all_schedulers) {
  for (const std::string& name : kSchedulers)
    for (const std::string& resources : {kAll, std::string("{}"), std::string("{tasks: 4}")}) {
      const std::string text =
          array_script(setting("/data/sweep's 100%", resources, name), {0, 5}, "jobs/array-001.sh");
      BOOST_TEST_CONTEXT(name << "\n" << text) {
        BOOST_TEST(run_program({"bash", "-n"}, text).succeeded());
        BOOST_TEST(!contains(text, "{?"));
        BOOST_TEST(contains(text, "\nrows=(0 5)\n"));
        BOOST_TEST(contains(text, "mpi") == (resources == "{tasks: 4}"));
        BOOST_TEST(contains(text, "short\n") == (resources == kAll && name != "local"));
      }
    }
}

BOOST_AUTO_TEST_CASE(a_script_says_everything) {
  const auto lines = [](const std::string& scheduler, const std::vector<std::string>& expected) {
    const std::string text =
        array_script(setting("/data", kAll, scheduler), {7, 8, 1005}, "jobs/array-002.sh");
    for (const std::string& line : expected)
      BOOST_TEST(contains(text, "\n" + line + "\n"), line + text);
  };
  lines("slurm",
        {"#SBATCH --array=0-2%4",
         "#SBATCH --output=jobs/logs/array-002.log",
         "#SBATCH --requeue",
         "#SBATCH --signal=USR1@90",
         "#SBATCH --cpus-per-task=3",
         "#SBATCH --partition=short",
         "#SBATCH --account=lab",
         "#SBATCH --qos=low",
         "#SBATCH --time=02:00:00",
         "#SBATCH --mem=4G",
         "#SBATCH --x=1",
         "#SBATCH --y",
         "module load gcc"});
  lines("pbs",
        {"#PBS -q short",
         "#PBS -l select=1:ncpus=3:mem=4G",
         "#PBS -l walltime=02:00:00",
         "limited() { timeout --foreground --preserve-status --signal=USR1 7110 \"$@\"; }"});
  lines("lsf", {"#BSUB -J scores[1-3]%4", "#BSUB -Q 75", "#BSUB -W 120", "#BSUB -n 3"});
  lines("sge", {"#$ -t 1-3", "#$ -tc 4", "#$ -l h_rt=02:00:00", "#$ -l h_vmem=4G"});
}

// Runs the script with programs that only record how they were called.
BOOST_AUTO_TEST_CASE(a_task_works_on_the_row_of_its_index) {
  const std::map<std::string, std::string> environments = {
      {"slurm", "SLURM_ARRAY_JOB_ID=12 SLURM_ARRAY_TASK_ID=1"},
      {"pbs", "PBS_O_WORKDIR=. PBS_ARRAY_ID=12[].host PBS_ARRAY_INDEX=1"},
      {"lsf", "LSB_JOBID=12 LSB_JOBINDEX=2"},
      {"sge", "JOB_ID=12 SGE_TASK_ID=2"}};
  for (const auto& [name, environment] : environments) BOOST_TEST_CONTEXT(name) {
      const StandIns programs;
      programs.add("srun", "while [ \"${1#--}\" != \"$1\" ]; do shift; done; exec \"$@\"");
      programs.add("worker", "echo \"works for $SOFTALIGN_JOB with $SOFTALIGN_SCHEDULER\"");
      SubmitSetting s = setting(programs.folder(), "{cpus: 2, setup: [export A=1]}", name);
      s.command = {"worker"};
      BOOST_TEST(run_script(s, environment).succeeded());
      const std::string log = log_of(s.folder, "row-1005.log");
      BOOST_TEST(contains(log, "row 1005: job 12"));
      BOOST_TEST(contains(log,
                          name == "pbs" ? "works for array-001/12[].host/1 with pbs\n"
                                        : "works for array-001/12/"));
      BOOST_TEST(bytes_of(programs.folder() / "worker.calls") == "--row 1005 --threads 2\n");
    }
}

// Exit status 75 restarts a row in the scheduler's own way, at most max_restarts times.
BOOST_AUTO_TEST_CASE(only_an_interrupted_row_is_started_again_and_not_for_ever) {
  struct Case {
    std::string scheduler, environment, caller, call;
    int status;  // exit status of the script
  };
  const std::vector<Case> cases = {
      {"slurm", "SLURM_ARRAY_JOB_ID=12 SLURM_ARRAY_TASK_ID=1", "scontrol", "requeue 12_1\n", 0},
      {"lsf", "LSB_JOBID=12 LSB_JOBINDEX=2", "", "", 75},
      {"sge", "JOB_ID=12 SGE_TASK_ID=2", "", "", 99}};
  for (const Case& one : cases) BOOST_TEST_CONTEXT(one.scheduler) {
      const StandIns programs;
      programs.add("srun", "while [ \"${1#--}\" != \"$1\" ]; do shift; done; exec \"$@\"");
      programs.add("scontrol", "");
      programs.add("worker", "exit 75");
      SubmitSetting s = setting(programs.folder(), "{max_restarts: 2}", one.scheduler);
      s.command = {"worker"};
      BOOST_TEST(run_script(s, one.environment).status == one.status);
      BOOST_TEST(run_script(s, one.environment).status == one.status);
      BOOST_TEST(run_script(s, one.environment).status == 1);
      if (!one.caller.empty())
        BOOST_TEST(bytes_of(programs.folder() / (one.caller + ".calls")) == one.call + one.call);
      const std::string log = log_of(s.folder, "row-1005.log");
      BOOST_TEST((contains(log, "restart 2") && contains(log, "interrupted after 2 restarts")));
      for (const int status : {0, 1, 2, 3, 137}) {
        programs.add("worker", fmt::format("exit {}", status));
        BOOST_TEST(run_script(s, one.environment).status == status);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_failed_set_up_line_stops_the_row) {
  const StandIns programs;
  programs.add("srun", "");
  const SubmitSetting s = setting(programs.folder(), "{setup: [\"false\", export A=1]}");
  BOOST_TEST(run_script(s, "SLURM_ARRAY_JOB_ID=12 SLURM_ARRAY_TASK_ID=1").status == 1);
  BOOST_TEST(programs.calls("srun") == 0);
}

// Submitting -------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(what_is_queued_is_not_submitted_again) {
  const StandIns programs;
  programs.add("scontrol", "echo ClusterName=oak");
  programs.add("sbatch", "[ \"$1\" = --test-only ] || echo 42");
  const fs::path& folder = programs.folder();
  const SubmitSetting s = setting(folder, "{array_size: 3}");
  const Submission first = submit(s, {0, 1, 2, 5}, false);
  BOOST_TEST((first.arrays == std::vector<Rows>{{0, 1, 2}, {5}}));
  BOOST_TEST(first.jobs == (std::vector<std::string>{"42", "42"}));
  programs.add("squeue", "echo 42_1; echo 7_0; echo 42_17");
  const Submission again = submit(s, {0, 1, 3}, false);
  BOOST_TEST(again.queued == Rows{1});
  BOOST_TEST((again.arrays == std::vector<Rows>{{0, 3}}));
  const auto arrays = submitted_arrays(folder);
  BOOST_REQUIRE(arrays.size() == 3);
  BOOST_TEST(arrays[1].rows == Rows{5});
  BOOST_TEST(arrays[2].script == "jobs/array-003.sh");
  BOOST_TEST(arrays[2].cluster == "ClusterName=oak");
  BOOST_TEST(bytes_of(folder / arrays[2].script) == again.scripts[0]);
}

BOOST_AUTO_TEST_CASE(arrays_have_the_size_that_the_scheduler_takes) {
  const StandIns folder;
  const auto arrays = [&](const std::string& name, const std::string& resources, const Rows& rows) {
    return submit(setting(folder.folder(), resources, name), rows, true);
  };
  Rows rows(1001);
  std::iota(rows.begin(), rows.end(), 0);
  BOOST_TEST(arrays("slurm", "{}", rows).arrays.size() == 2u);
  BOOST_TEST(arrays("slurm", "{array_size: 10}", rows).arrays.size() == 101u);
  BOOST_TEST(arrays("slurm", "{array_size: 5000}", rows).arrays.size() == 2u);
  BOOST_TEST(!fs::exists(folder.folder() / "jobs"));
  // An array of PBS has at least two tasks; here the second has no row and does nothing.
  SubmitSetting s = setting(folder.folder(), "{}", "pbs");
  s.command = {"false"};
  write_file(with_logs(s.folder) / "jobs/a.sh", array_script(s, {3}, "jobs/a.sh"));
  const std::string there = "cd " + s.folder.string() + "; PBS_O_WORKDIR=. PBS_ARRAY_ID=1 ";
  BOOST_TEST(run_program({"bash", "-c", there + "PBS_ARRAY_INDEX=1 bash jobs/a.sh"}).status == 0);
  BOOST_TEST(run_program({"bash", "-c", there + "PBS_ARRAY_INDEX=0 bash jobs/a.sh"}).status == 1);
}

BOOST_AUTO_TEST_CASE(refusals_come_before_anything_is_written) {
  const StandIns programs;
  programs.add("scontrol", "echo ClusterName=oak");
  programs.add("sbatch", "echo 'allocation failure: Invalid partition name specified' >&2; exit 1");
  const SubmitSetting nowhere = setting(programs.folder(), "cpus: 1\npartition: nope\n");
  const std::string message = refusal([&] { submit(nowhere, {0}, false); });
  BOOST_TEST(places_of(message) == "1:1");
  BOOST_TEST(contains(message, "Invalid partition name"));
  programs.add("scontrol", "echo 'Unable to contact slurm controller' >&2; exit 1");
  BOOST_TEST(contains(message_of<MachineError>([&] { submit(nowhere, {0}, false); }),
                      "Unable to contact"));
  BOOST_TEST(contains(submit(nowhere, {0}, true).notes.at(0), "Unable to contact"));
  BOOST_TEST(!fs::exists(programs.folder() / "jobs"));
}

// The second array does not fit into the queue. The first is recorded, so it is not submitted twice.
BOOST_AUTO_TEST_CASE(a_full_queue_keeps_what_was_taken) {
  const StandIns programs;
  programs.add("scontrol", "echo ClusterName=oak");
  programs.add("sbatch",
               "case $* in --test-only) ;; *array-001.sh) echo 5 ;;"
               " *) echo 'sbatch: error: QOSMaxSubmitJobPerUserLimit' >&2; exit 1 ;; esac");
  const std::string message = message_of<MachineError>([&] {
    submit(setting(programs.folder(), "{array_size: 1}"), {0, 1000}, false);
  });
  BOOST_TEST(contains(message, "rows 1000"));
  BOOST_TEST(contains(message, "QOSMaxSubmitJobPerUserLimit"));
  BOOST_TEST(submitted_arrays(programs.folder()).size() == 1u);
}

// Conclusions from the scheduler's answers -------------------------------------------------------------------------

namespace {

Owner elsewhere(const std::string& job) {
  Owner owner;
  owner.host = owner.boot_id = "another";
  owner.pid = 7;
  owner.job = job;
  return owner;
}

// Records a submission of job 12 with rows 3, 4 and 5.
void submitted(const fs::path& folder,
               const std::string& scheduler,
               const std::string& cluster,
               const std::string& user = getpwuid(geteuid())->pw_name) {
  fs::create_directories(folder / "jobs");
  const SubmittedArray array{scheduler, cluster, user, "jobs/array-001.sh", "12", 0, {3, 4, 5}, ""};
  write_file(folder / "jobs/submitted.json", stored_text(std::vector{array}));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_scheduler_tells_dead_from_slow) {
  const StandIns programs;
  const fs::path& folder = programs.folder();
  programs.add("scontrol", "echo ClusterName=oak");
  programs.add("squeue", "echo 12_1; echo 13_0");
  submitted(folder, "slurm", "ClusterName=oak");
  Jobs jobs(folder);
  BOOST_TEST(jobs.proof(elsewhere("array-001/12/1")) == "");
  BOOST_TEST(contains(jobs.proof(elsewhere("array-001/12/0")), "slurm has ended its job"));
  BOOST_TEST(jobs.proof(elsewhere("array-001/13/0")) == "");  // submitted by hand
  BOOST_TEST(jobs.proof(elsewhere("array-002/12/0")) == "");
  for (const char* job : {"", "12", "12/0", "//"}) BOOST_TEST(jobs.proof(elsewhere(job)) == "");
  Owner self = Owner::self();
  self.job = "array-001/12/0";
  BOOST_TEST(jobs.proof(self) == "");  // its process is alive on this machine
  BOOST_TEST(programs.calls("squeue") == 1);
}

BOOST_AUTO_TEST_CASE(no_answer_is_no_proof) {
  const StandIns programs;
  const fs::path& folder = programs.folder();
  const Owner gone = elsewhere("array-001/12/0");
  programs.add("scontrol", "echo ClusterName=oak");
  programs.add("squeue", "echo 'slurm_load_jobs error: Unable to contact' >&2; exit 1");
  submitted(folder, "slurm", "ClusterName=oak");
  BOOST_TEST(Jobs(folder).proof(gone) == "");
  programs.add("squeue", "");
  BOOST_TEST(Jobs(folder).proof(gone) != "");
  submitted(folder, "slurm", "ClusterName=elm");  // another cluster: its jobs are not in this queue
  BOOST_TEST(Jobs(folder).proof(gone) == "");
  submitted(folder, "slurm", "ClusterName=oak", "somebody");  // their jobs may be hidden
  BOOST_TEST(Jobs(folder).proof(gone) == "");
}

// A sweep folder is untrusted, so no command is taken from it.
BOOST_AUTO_TEST_CASE(a_scheduler_in_the_folder_is_not_asked_unless_it_is_named) {
  const StandIns programs;
  const fs::path& folder = programs.folder();
  const std::string site = folder / "site.yaml";
  programs.add("mine", "");
  write_file(site,
             "{script: 'launch restart {work}', submit: a, job: (a), status: mine, task: (a), "
             "cancel: mine}");
  submitted(folder, site, "");
  const Owner gone = elsewhere("array-001/12/0");
  BOOST_TEST(Jobs(folder).proof(gone) == "");
  submitted(folder, "../" + folder.filename().string() + "/site", "");
  BOOST_TEST(Jobs(folder).proof(gone) == "");
  BOOST_TEST(programs.calls("mine") == 0);
  submitted(folder, site, "");
  BOOST_TEST(Jobs(folder, site).proof(gone) != "");
  setenv("SOFTALIGN_SCHEDULER", site.c_str(), 1);
  BOOST_TEST(liveness_of(folder)(gone) != "");
  unsetenv("SOFTALIGN_SCHEDULER");
  BOOST_TEST(liveness_of(folder)(gone) == "");
}

BOOST_AUTO_TEST_CASE(what_was_submitted_is_cancelled_as_the_scheduler_says) {
  const StandIns programs;
  programs.add("scontrol", "echo ClusterName=oak");
  programs.add("squeue", "echo 12_0");
  programs.add("scancel", "");
  submitted(programs.folder(), "slurm", "ClusterName=oak");
  Jobs jobs(programs.folder());
  BOOST_TEST(*jobs.queued(jobs.arrays()[0]) == std::vector<Index>{3});
  jobs.cancel(jobs.arrays()[0]);
  BOOST_TEST(bytes_of(programs.folder() / "scancel.calls") == "12\n");
  programs.add("scancel", "echo no >&2; exit 1");
  BOOST_CHECK_THROW(jobs.cancel(jobs.arrays()[0]), MachineError);
}

BOOST_AUTO_TEST_SUITE_END()
