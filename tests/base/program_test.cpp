#include "framework/base/process.hpp"

#include <boost/test/unit_test.hpp>

using namespace softalign;

BOOST_AUTO_TEST_SUITE(program)

BOOST_AUTO_TEST_CASE(a_program_that_hangs_is_ended) {
  const ProgramOutcome slow = run_program({"sleep", "30"}, "", std::chrono::seconds(0));
  BOOST_TEST(slow.timed_out);
  BOOST_TEST(slow.status == 128 + 9);
  BOOST_TEST(!run_program({"softalign-no-such-program"}).found());
  const ProgramOutcome outcome = run_program({"sh", "-c", "cat; echo b >&2; exit 3"}, "a");
  BOOST_TEST(outcome.output == "a");
  BOOST_TEST(outcome.error == "b\n");
  BOOST_TEST(outcome.status == 3);
}

BOOST_AUTO_TEST_SUITE_END()
