// What is submitted, what is not, and what is on record when Slurm refuses.
#include "framework/runs/slurm_submit.hpp"

#include <boost/test/unit_test.hpp>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "tests/runs/stand_ins.hpp"

using namespace softalign;
using namespace softalign::test;
BOOST_AUTO_TEST_SUITE(slurm_submit)

BOOST_AUTO_TEST_CASE(what_is_queued_is_not_submitted_again) {
  const StandIns programs;
  const std::string prefix = job_prefix("scores", programs.folder());
  programs.add("squeue",
               fmt::format("echo '7 1 RUNNING 0 {0}+0'; echo '7 2 FAILED 0 {0}+0';"
                           "echo '8 0 PENDING 0 {0}+1000'; echo '9 3 PENDING 0 other+0'",
                           prefix));
  programs.add("sbatch", "[ \"$1\" = --test-only ] || echo 42");
  const Submission done =
      submit(setting(programs.folder()), {0, 1, 2, 3, 1000, 1001}, SubmitMode::submit);
  BOOST_TEST(done.queued == (std::vector<Index>{1, 1000}));
  BOOST_TEST(done.jobs == (std::vector<std::string>{"42", "42"}));
  const auto arrays = submitted_arrays(programs.folder());
  BOOST_REQUIRE(arrays.size() == 2);
  BOOST_TEST(arrays[0].rows == "0,2-3");
  BOOST_TEST(arrays[1].rows == "1001");
  BOOST_TEST(arrays[1].offset == 1000);
  BOOST_TEST(fs::exists(programs.folder() / arrays[1].script));
}

BOOST_AUTO_TEST_CASE(refusals_come_before_anything_is_written) {
  const StandIns programs;
  programs.add("squeue", "");
  programs.add("sbatch", "echo 'allocation failure: Invalid partition name specified' >&2; exit 1");
  const ScriptSetting nowhere = setting(programs.folder(), "cpus: 1\npartition: nope\n");
  BOOST_TEST(places_of(refusal([&] { submit(nowhere, {0}, SubmitMode::submit); })) == "2:12");
  programs.add("sbatch", "echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1");
  BOOST_CHECK_THROW(submit(setting(programs.folder()), {0}, SubmitMode::submit), MachineError);
  programs.add("squeue", "exit 1");
  BOOST_CHECK_THROW(submit(setting(programs.folder()), {0}, SubmitMode::submit), MachineError);
  BOOST_TEST(!fs::exists(programs.folder() / "slurm"));
}

// The second array does not fit into the queue: the first is on record, and so is not sent twice.
BOOST_AUTO_TEST_CASE(a_full_queue_keeps_what_was_taken) {
  const StandIns programs;
  programs.add("squeue", "");
  programs.add("sbatch",
               "case $* in --test-only) ;; *array-001.sh) echo 5 ;;"
               " *) echo 'sbatch: error: QOSMaxSubmitJobPerUserLimit' >&2; exit 1 ;; esac");
  const std::string message = message_of<MachineError>([&] {
    submit(setting(programs.folder()), {0, 1000}, SubmitMode::submit);
  });
  BOOST_TEST(contains(message, "rows 1000"));
  BOOST_TEST(contains(message, "QOSMaxSubmitJobPerUserLimit"));
  BOOST_TEST(submitted_arrays(programs.folder()).size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
