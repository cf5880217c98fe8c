#include "framework/app/terminal/link_options.hpp"

#include <cmath>

#include "framework/base/error.hpp"

namespace softalign::app {

void LinkOptions::add_to(CLI::App& command) {
  command
      .add_option("--threshold",
                  threshold,
                  "of links: where a weight is at least so much (default: where the weights of a "
                  "target word are largest, all that tie)")
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--row-aligns",
                  row_aligns,
                  "of links: which target word a row of weights belongs to, the one predicted with "
                  "it or the one read at its step (default: the run's evaluate.row_aligns)")
      ->check(CLI::IsMember({"predicted", "read"}));
}

LinkRule LinkOptions::rule(RowAligns of_run) const {
  if (threshold && std::isnan(*threshold))  // which CLI::Range lets pass
    throw SpecError("--threshold: nan is no weight; give a number from 0 to 1");
  return {row_aligns.empty() ? of_run : row_aligns_of(row_aligns), threshold};
}

}  // namespace softalign::app
