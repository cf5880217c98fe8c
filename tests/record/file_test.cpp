#include "framework/record/file.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "framework/base/error.hpp"
#include "tests/record/support.hpp"

using namespace softalign;
using namespace softalign::test;

BOOST_AUTO_TEST_SUITE(files)

BOOST_AUTO_TEST_CASE(a_file_is_never_created_twice) {
  const Scratch scratch;
  File first(FileSystem::real(), scratch / "a");
  BOOST_CHECK_EXCEPTION(File(FileSystem::real(), scratch / "a"), MachineError, [&](const auto& e) {
    return std::string(e.what()) == (scratch / "a").string() + ": cannot create it: File exists";
  });
}

BOOST_AUTO_TEST_CASE(interruptions_and_short_writes_do_not_show) {
  for (const Fault fault : {Fault::interrupted, Fault::short_write}) {
    for (int nth = 1; nth <= 8; ++nth) {
      const Scratch scratch;
      FaultyFiles files(fault, nth);
      files.write_atomically(scratch / "a", "0123456789");
      BOOST_TEST(read_file(scratch / "a") == "0123456789");
    }
  }
}

BOOST_AUTO_TEST_CASE(atomic_writing_is_all_or_nothing) {
  for (const Fault fault : {Fault::no_space, Fault::io_error}) {
    int failures = 0;
    for (int nth = 1; nth <= 8; ++nth) {
      const Scratch scratch;
      FileSystem::real().write_atomically(scratch / "a", "old");
      FaultyFiles files(fault, nth);
      bool failed = false;
      try {
        files.write_atomically(scratch / "a", "new and longer");
      } catch (const MachineError&) {
        failed = true;
        ++failures;
      }
      const std::string now = read_file(scratch / "a");
      if (failed) {
        BOOST_TEST((now == "old" || now == "new and longer"));  // only the folder's sync failed
      } else {
        BOOST_TEST(now == "new and longer");
      }
    }
    BOOST_TEST(failures >= 3);
  }
}

BOOST_AUTO_TEST_CASE(a_failed_check_keeps_the_old_file) {
  const Scratch scratch;
  FileSystem::real().write_atomically(scratch / "a", "old");
  const auto refuse = [](const std::filesystem::path&) { throw CheckError("no"); };
  BOOST_CHECK_THROW(FileSystem::real().write_atomically(scratch / "a", "new", refuse), CheckError);
  BOOST_TEST(read_file(scratch / "a") == "old");
  BOOST_TEST(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_regular_file_is_not_replaced) {
  const Scratch scratch;
  BOOST_REQUIRE(mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  BOOST_CHECK_THROW(FileSystem::real().write_atomically(scratch / "pipe", "new"), MachineError);
  BOOST_TEST(std::filesystem::is_fifo(scratch / "pipe"));
}

BOOST_AUTO_TEST_CASE(creating_once_tells_who_was_first) {
  const Scratch scratch;
  BOOST_TEST(FileSystem::real().create_once(scratch / "a", "first"));
  BOOST_TEST(!FileSystem::real().create_once(scratch / "a", "second"));
  BOOST_TEST(read_file(scratch / "a") == "first");
}

BOOST_AUTO_TEST_CASE(an_append_that_fails_leaves_what_was_there) {
  const Scratch scratch;
  FaultyFiles files(Fault::no_space, 3);  // create, write, then the disk is full
  File file(files, scratch / "a");
  file.append("whole");
  BOOST_CHECK_THROW(file.append("torn in two"), MachineError);
  BOOST_TEST(read_file(scratch / "a") == "whole");
}

BOOST_AUTO_TEST_SUITE_END()
