// A precondition for tests that need sentencepiece: they are skipped if the program was built without it.
#pragma once

#include <boost/test/unit_test.hpp>

#include "framework/data/sentencepiece.hpp"

namespace softalign {

inline boost::test_tools::assertion_result has_pieces(boost::unit_test::test_unit_id) {
  return !sentencepiece_version().empty();
}

}  // namespace softalign
