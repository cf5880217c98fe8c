// The claims of a study's or a sweep's file: statements about test results, and whether somebody
// expects them to hold.
//
//   claims:
//     - claim: bleu(best where model.attention.type=global) > bleu(best where model.attention.type=none)
//       because: why we think so
//       expect: holds                             # or open: reported, never an error
//       seeds: all                                # each seed must agree; mean: their mean decides, by its interval
//       p: 0.01                                   # and the difference must have a smaller p
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/value.hpp"
#include "framework/study/statement.hpp"

namespace softalign {

struct StudyClaim {
  Statement statement;
  Position where;
  std::string because;
  bool open = false;  // nobody says that it holds
  bool all_seeds = false;
  std::optional<double> p = {};
};

// `check` refuses measurements of what is not in the file. Throws SpecError.
std::vector<StudyClaim> read_claims(
    const Value& list, const std::function<void(const Measurement&, const Position&)>& check);

}  // namespace softalign
