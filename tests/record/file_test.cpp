#include "framework/record/file.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <map>

#include "framework/base/error.hpp"
#include "tests/record/support.hpp"

using namespace softalign;
using namespace softalign::test;

BOOST_AUTO_TEST_SUITE(files)

BOOST_AUTO_TEST_CASE(a_file_is_never_created_twice) {
  const Scratch scratch;
  File first(FileSystem::real(), scratch / "a");
  BOOST_CHECK_THROW(File(FileSystem::real(), scratch / "a"), MachineError);
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

BOOST_AUTO_TEST_CASE(what_does_not_read_back_is_the_machines_fault) {
  const Scratch scratch;
  const auto damaged = [](const std::filesystem::path& file) {
    throw DataError("{}: damaged; copy it again", file.string());
  };
  BOOST_CHECK_THROW(FileSystem::real().write_atomically(scratch / "a", "new", damaged),
                    MachineError);
  BOOST_TEST(std::filesystem::is_empty(scratch.path()));
}

// At every level, the parent of a new folder must be synced.
BOOST_AUTO_TEST_CASE(new_folders_are_durable_at_every_level) {
  struct Watched : FileSystem {
    std::map<int, std::string> open_files;
    std::vector<std::string> calls;
    int mkdir(const char* path) override {
      calls.push_back(std::string("make ") + path);
      return FileSystem::mkdir(path);
    }
    int open(const char* path, int flags) override {
      const int file = FileSystem::open(path, flags);
      open_files[file] = path;
      return file;
    }
    int fsync(int file) override {
      calls.push_back("sync " + open_files.at(file));
      return FileSystem::fsync(file);
    }
  } files;
  const Scratch scratch;
  const std::string root = scratch.path().string();
  files.make_folders(scratch / "a/b/c");
  BOOST_TEST((files.calls == std::vector<std::string>{"make " + root + "/a",
                                                      "sync " + root,
                                                      "make " + root + "/a/b",
                                                      "sync " + root + "/a",
                                                      "make " + root + "/a/b/c",
                                                      "sync " + root + "/a/b"}));
  files.calls.clear();
  files.make_folders(scratch / "a/b/c");
  BOOST_TEST(files.calls.empty());
  File(files, scratch / "file");
  BOOST_CHECK_THROW(files.make_folders(scratch / "file/d"), MachineError);
}

// The process that won removed the temporary file, which it took for a leftover.
BOOST_AUTO_TEST_CASE(a_loser_whose_temporary_was_removed_is_told_that_it_lost) {
  struct Swept : FileSystem {
    int link(const char* from, const char* to) override {
      FileSystem::unlink(from);
      return FileSystem::link(from, to);
    }
  } swept;
  const Scratch scratch;
  BOOST_CHECK_THROW(swept.create_once(scratch / "a", "mine"), MachineError);
  BOOST_TEST(FileSystem::real().create_once(scratch / "a", "another's"));
  BOOST_TEST(!swept.create_once(scratch / "a", "mine"));
  BOOST_TEST(read_file(scratch / "a") == "another's");
}

BOOST_AUTO_TEST_CASE(a_temporary_tells_whose_it_is) {
  struct Named : FileSystem {
    std::string name;
    int rename(const char* from, const char* to) override {
      name = from;
      return FileSystem::rename(from, to);
    }
  } files;
  const Scratch scratch;
  files.write_atomically(scratch / "run.h5", "x");
  const std::string mine = files.name;
  BOOST_TEST((temporary(mine) == Temporary::alive));
  const std::string prefix = mine.substr(0, mine.rfind('-') + 1);
  BOOST_TEST((temporary(prefix + "4000000000") == Temporary::abandoned));
  BOOST_TEST((temporary(scratch / ".run.h5.tmp-01234567-4000000000") == Temporary::unknown));
  BOOST_TEST((temporary(scratch / ".run.h5.tmp-4000000000") == Temporary::unknown));
  for (const char* other :
       {"run.h5", ".run.h5", ".run.h5.tmp-", ".tmp-12", "a.tmp-12", ".a.tmp-1x"})
    BOOST_TEST((temporary(scratch / other) == Temporary::none));
}

BOOST_AUTO_TEST_CASE(creating_once_tells_who_was_first) {
  const Scratch scratch;
  BOOST_TEST(FileSystem::real().create_once(scratch / "a", "first"));
  BOOST_TEST(!FileSystem::real().create_once(scratch / "a", "second"));
  BOOST_TEST(read_file(scratch / "a") == "first");
}

BOOST_AUTO_TEST_CASE(creating_once_says_why_it_cannot) {
  struct : FileSystem {
    int link(const char*, const char*) override {
      errno = EROFS;
      return -1;
    }
  } files;
  const Scratch scratch;
  BOOST_TEST(message_of<MachineError>([&] {
               files.create_once(scratch / "a", "first");
             }).ends_with("a: cannot create it: Read-only file system"));
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
