#define BOOST_TEST_MODULE softalign
#include <boost/test/unit_test.hpp>
