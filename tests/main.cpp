#include <stdlib.h>

#include <boost/test/unit_test.hpp>

int main(int count, char** words) {
  setenv("SOFTALIGN_CACHE", "", 1);  // nothing is kept outside the tests' own folders
  return boost::unit_test::unit_test_main([] { return true; }, count, words);
}
