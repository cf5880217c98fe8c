// What is concluded from Slurm's answers about jobs, and from their absence.
#include "framework/runs/slurm_queue.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/runs/stand_ins.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

Owner elsewhere(const std::string& job, Index restarts = 0) {
  Owner owner;
  owner.host = "node7";
  owner.boot_id = "another";
  owner.pid = 7;
  owner.slurm_job = job;
  owner.slurm_cluster = "oak";
  owner.slurm_user = "somebody";
  owner.slurm_restarts = restarts;
  return owner;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(slurm_queue)

BOOST_AUTO_TEST_CASE(slurm_tells_dead_from_slow) {
  const StandIns programs;
  programs.add("scontrol", "echo 'ClusterName = oak'; echo 'PrivateData = none'");
  programs.add("squeue",
               "echo '12 0 RUNNING 0 x'; echo '12 1 COMPLETED 0 x'; echo '12 2 PENDING 1 x';"
               "echo '12 3 COMPLETING 0 x'; echo '12 4 NODE_FAIL 0 x'");
  SlurmWitness witness;
  BOOST_TEST(witness(elsewhere("12_0")) == "");
  BOOST_TEST(contains(witness(elsewhere("12_1")), "Slurm says COMPLETED"));
  BOOST_TEST(contains(witness(elsewhere("12_2")), "started the job again"));
  BOOST_TEST(witness(elsewhere("12_2", 1)) == "");
  BOOST_TEST(witness(elsewhere("12_3")) == "");
  BOOST_TEST(witness(elsewhere("12_4")) != "");
  BOOST_TEST(contains(witness(elsewhere("12_9")), "no more"));
  BOOST_TEST(witness(elsewhere("")) == "");
  Owner other = elsewhere("12_9");
  other.slurm_cluster = "elm";
  BOOST_TEST(witness(other) == "");
  BOOST_TEST(*witness.alive("12_0"));
  BOOST_TEST(!*witness.alive("12_1"));
  BOOST_TEST(programs.calls("squeue") == 1);  // once for the array
  BOOST_TEST(witness(Owner::self()) == "");
}

BOOST_AUTO_TEST_CASE(a_process_that_is_seen_alive_is_not_declared_dead) {
  const StandIns programs;
  programs.add("scontrol", "echo 'ClusterName = oak'");
  programs.add("squeue", "");
  Owner self = Owner::self();
  self.slurm_job = "12_9";
  self.slurm_cluster = "oak";
  BOOST_TEST(SlurmWitness()(self) == "");
  self.pid_namespace = "pid:[1]";  // no longer seen
  BOOST_TEST(SlurmWitness()(self) != "");
}

BOOST_AUTO_TEST_CASE(no_answer_is_no_proof) {
  const StandIns programs;
  programs.add("scontrol", "echo 'ClusterName = oak'");
  programs.add("squeue",
               "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  SlurmWitness witness;
  BOOST_TEST(witness(elsewhere("12_9")) == "");
  BOOST_TEST(!witness.alive("12_9").has_value());
  programs.add("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
  BOOST_TEST(SlurmWitness()(elsewhere("12_9")) != "");
  programs.add("scontrol", "exit 1");
  BOOST_TEST(SlurmWitness()(elsewhere("12_9")) == "");
  programs.add("scontrol", "echo 'ClusterName = oak'; echo 'PrivateData = jobs'");
  BOOST_TEST(SlurmWitness()(elsewhere("12_9")) == "");
}

BOOST_AUTO_TEST_CASE(the_same_job_started_again_needs_no_answer) {
  setenv("SLURM_ARRAY_JOB_ID", "12", 1);
  setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  setenv("SLURM_CLUSTER_NAME", "oak", 1);
  setenv("SLURM_RESTART_COUNT", "2", 1);
  const StandIns programs;
  programs.add("scontrol", "exit 1");
  BOOST_TEST(Owner::self().slurm_restarts == 2);
  BOOST_TEST(SlurmWitness()(elsewhere("12_3", 1)) != "");
  BOOST_TEST(SlurmWitness()(elsewhere("12_3", 2)) == "");
  BOOST_TEST(SlurmWitness()(elsewhere("12_4", 1)) == "");
  for (const char* name :
       {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT"})
    unsetenv(name);
}

BOOST_AUTO_TEST_SUITE_END()
