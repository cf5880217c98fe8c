#define BOOST_TEST_MODULE softalign
#include <stdlib.h>

#include <boost/test/unit_test.hpp>

// Nothing is kept outside the tests' own folders.
[[maybe_unused]] static const int no_cache = setenv("SOFTALIGN_CACHE", "", 1);
