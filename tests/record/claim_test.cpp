#include "framework/record/folder/status.hpp"

#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "tests/child.hpp"
#include "tests/record/no_files.hpp"
#include "tests/record/support.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

RunFolder new_run(const Scratch& scratch, const std::string& name) {
  std::filesystem::create_directory(scratch / name);
  return {scratch / name};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(claims)

BOOST_AUTO_TEST_CASE(an_owner_that_lives_is_named) {
  const Scratch scratch;
  const RunFolder run = new_run(scratch, "run");
  const Claim mine(FileSystem::real(), run, false);
  BOOST_TEST(mine.attempt() == 1);
  BOOST_TEST(contains(message_of<MachineError>([&] { Claim(FileSystem::real(), run, false); }),
                      std::to_string(getpid())));
  BOOST_TEST((run_status(run).state == RunState::claimed));
}

BOOST_AUTO_TEST_CASE(an_owner_is_named_in_one_harmless_line) {
  Owner owner;
  owner.host = "a\nb\x1b[31m" + std::string(100'000, 'x');
  owner.job = "1\r2";
  owner.time = 1e300;
  BOOST_TEST(!has_control_characters(owner.str()));
  BOOST_TEST(owner.str().size() < 200u);
  BOOST_TEST(!contains(owner.str(), "since"));  // the time is out of range
  owner.time = 1;
  BOOST_TEST(owner.str().ends_with(" since 1970-01-01T00:00:01Z"));
}

BOOST_AUTO_TEST_CASE(released_claims_are_free) {
  const Scratch scratch;
  const RunFolder run = new_run(scratch, "run");
  { const Claim first(FileSystem::real(), run, false); }
  const Claim second(FileSystem::real(), run, false);
  BOOST_TEST(second.attempt() == 2);
  BOOST_TEST(second.reason() == "");
}

BOOST_AUTO_TEST_CASE(a_dead_owner_is_replaced_with_the_reason) {
  const Scratch scratch;
  const RunFolder run = new_run(scratch, "run");
  const int status = in_child([&] {
    new Claim(FileSystem::real(), run, false);
    return kill(getpid(), SIGKILL);
  });
  BOOST_TEST(status == -SIGKILL);
  BOOST_TEST((run_status(run).state == RunState::lost));
  const Claim mine(FileSystem::real(), run, false);
  BOOST_TEST(mine.attempt() == 2);
  BOOST_TEST(contains(mine.reason(), "is gone"));
}

BOOST_AUTO_TEST_CASE(a_zombie_is_dead) {
  const Scratch scratch;
  const RunFolder run = new_run(scratch, "run");
  const pid_t child = begin_child([&] { return new Claim(FileSystem::real(), run, false), 0; });
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  const Claim mine(FileSystem::real(), run, false);
  BOOST_TEST(mine.attempt() == 2);
  waitpid(child, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(death_is_proved_only_where_it_can_be) {
  Owner owner = Owner::self();
  BOOST_TEST(proof_of_death(owner) == "");
  owner.pid_start += "1";  // the process ID belongs to another process now
  BOOST_TEST(proof_of_death(owner) != "");
  owner.pid_namespace = "pid:[1]";  // a process in a container, which cannot be seen from here
  BOOST_TEST(proof_of_death(owner) == "");
  owner = Owner::self();
  owner.boot_id = "other";
  owner.machine_id = "same";
  BOOST_TEST(proof_of_death(owner) == "");  // another machine with the same host name
  owner.machine_id = Owner::self().machine_id;
  BOOST_TEST((proof_of_death(owner) != "") == !owner.machine_id.empty());
  owner.host = "elsewhere";
  BOOST_TEST(proof_of_death(owner) == "");
}

// If the state of the system cannot be read, nothing proves that an owner is dead.
BOOST_AUTO_TEST_CASE(nobody_is_dead_because_too_many_files_are_open,
                     *boost::unit_test::precondition(files_can_run_out)) {
  Owner elsewhere = Owner::self();
  elsewhere.pid_start += "1";
  const Owner self = Owner::self();
  const std::string mark = process_mark();
  for (const std::function<void()>& look :
       {std::function<void()>([&] { proof_of_death(self); }), {[&] { marked(mark); }}}) {
    const NoFiles none;
    BOOST_CHECK_THROW(look(), MachineError);
  }
  BOOST_TEST(proof_of_death(elsewhere) != "");
  elsewhere.boot_id = "";  // the boot of its process is unknown
  BOOST_TEST(proof_of_death(elsewhere) == "");
}

// Writes a claim of a process on another host, touched `ago` seconds ago; returns its owner.
Owner elsewhere(const RunFolder& run, std::chrono::seconds ago) {
  Owner owner = Owner::self();
  owner.host = owner.boot_id = owner.machine_id = "elsewhere";
  owner.attempt = 1;
  std::filesystem::create_directories(run.attempt(1));
  write_file(run.claim(1), stored_text(owner));
  const auto now = std::filesystem::last_write_time(run.claim(1));
  std::filesystem::last_write_time(run.claim(1), now - ago);
  return *newest_claim(run);
}

BOOST_AUTO_TEST_CASE(an_owner_elsewhere_is_dead_once_it_was_silent_for_ten_minutes) {
  const Scratch scratch;
  const RunFolder run = new_run(scratch, "run");
  BOOST_TEST(proof_of_death(elsewhere(run, std::chrono::seconds(580))) == "");
  BOOST_TEST((run_status(run).state == RunState::claimed));
  const Owner owner = elsewhere(run, std::chrono::seconds(620));
  BOOST_TEST(contains(proof_of_death(owner), "no sign of life"));
  BOOST_TEST((run_status(run).state == RunState::lost));
  BOOST_TEST(names_in(run.attempt(1)).size() ==
             1u);  // asking the file system for its time leaves no file
  Owner unknown = owner;
  unknown.claim.clear();
  BOOST_TEST(proof_of_death(unknown) == "");
  const Claim mine(FileSystem::real(), run, false);
  BOOST_TEST(mine.attempt() == 2);
}

BOOST_AUTO_TEST_CASE(a_task_of_a_scheduler_is_not_run_twice_at_a_time) {
  const Scratch scratch;
  Owner owner = elsewhere(new_run(scratch, "run"), std::chrono::seconds(0));
  setenv("SOFTALIGN_JOB", "array-001/12/3", 1);
  BOOST_TEST(proof_of_death(owner) == "");
  owner.job = "array-001/12/4";
  BOOST_TEST(proof_of_death(owner) == "");
  owner.job = Owner::self().job;
  BOOST_TEST(contains(proof_of_death(owner), "was started again"));
  unsetenv("SOFTALIGN_JOB");
}

// As for a process that was suspended for ten minutes.
BOOST_AUTO_TEST_CASE(whoever_was_taken_over_stops) {
  const Scratch scratch;
  const RunFolder run = new_run(scratch, "run");
  const Claim halted(FileSystem::real(), run, false);
  halted.check();
  const Claim mine(FileSystem::real(), run, true);
  mine.check();
  BOOST_CHECK_THROW(halted.check(), RunInUse);
}

BOOST_AUTO_TEST_CASE(force_takes_what_cannot_be_proved) {
  const Scratch scratch;
  const RunFolder run = new_run(scratch, "run");
  const Claim first(FileSystem::real(), run, false);
  const Claim second(FileSystem::real(), run, true);
  BOOST_TEST(second.attempt() == 2);
  BOOST_TEST(contains(second.reason(), "by force"));
}

// Two processes start at a barrier, on a new run or on one whose owner is dead: exactly one wins.
BOOST_AUTO_TEST_CASE(of_two_racing_processes_one_wins) {
  const Scratch scratch;
  for (int round = 0; round < 100; ++round) {
    const RunFolder run = new_run(scratch, std::to_string(round));
    if (round % 2) in_child([&] { return new Claim(FileSystem::real(), run, false), 0; });
    int go[2];
    BOOST_REQUIRE(pipe(go) == 0);
    int results[2];
    BOOST_REQUIRE(pipe(results) == 0);
    pid_t racers[2];
    for (pid_t& racer : racers) {
      racer = fork();
      if (racer != 0) continue;
      char byte = 'l';
      ::close(go[1]);
      while (::read(go[0], &byte, 1) > 0) {
      }
      byte = 'l';
      try {
        new Claim(FileSystem::real(), run, false);
        byte = 'w';
      } catch (const MachineError&) {
      }
      (void)!::write(results[1], &byte, 1);
      ::close(results[1]);
      while (::read(results[0], &byte, 0) == 0) pause();  // alive until both have reported
      _exit(0);
    }
    ::close(go[0]);
    ::close(go[1]);
    std::string outcome(2, ' ');
    for (char& byte : outcome) BOOST_REQUIRE(::read(results[0], &byte, 1) == 1);
    std::sort(outcome.begin(), outcome.end());
    BOOST_TEST(outcome == "lw");
    for (const pid_t racer : racers) {
      kill(racer, SIGKILL);
      waitpid(racer, nullptr, 0);
    }
    ::close(results[0]);
    ::close(results[1]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
