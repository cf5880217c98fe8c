// Writes the record that test_read_back.py reads with third-party libraries.
#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/record/support.hpp"

using namespace softalign;
using namespace softalign::test;

BOOST_AUTO_TEST_CASE(sample_for_python) {
  const Scratch scratch;
  const char* wanted = std::getenv("SOFTALIGN_SAMPLE");  // results folder
  Recorder record(wanted ? std::filesystem::path(wanted) : scratch.path(), kRun);
  if (record.already_complete()) return;
  record.event("a note");
  train(record, 30);
  BOOST_TEST(std::filesystem::exists(record.folder().record()));
}
