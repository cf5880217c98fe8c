// A process that cannot open any more files, as if too many were open.
#pragma once

#include <sys/resource.h>

#include <boost/test/unit_test.hpp>

namespace softalign::test {

// The precondition of tests that use NoFiles.
inline boost::test_tools::assertion_result files_can_run_out(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result can = true;
#ifdef SOFTALIGN_SANITIZE
  can = false;
  can.message() << "a sanitizer opens a pipe to look at the type of an object";
#endif
  return can;
}

// While an object of this class exists, no file can be opened.
class NoFiles {
 public:
  NoFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoFiles(const NoFiles&) = delete;
  NoFiles& operator=(const NoFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace softalign::test
