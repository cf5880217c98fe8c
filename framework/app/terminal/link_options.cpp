#include "framework/app/terminal/link_options.hpp"

#include "framework/app/terminal/number_option.hpp"

namespace softalign::app {

void LinkOptions::add_to(CLI::App& command) {
  command
      .add_option("--threshold",
                  threshold,
                  "of links: where a weight is at least so much (default: where the weights of a "
                  "target word are largest, all that tie)")
      ->check(number(between(0, 1)));
  command
      .add_option("--row-aligns",
                  row_aligns,
                  "of links: which target word a row of weights belongs to, the one predicted with "
                  "it or the one read at its step (default: the run's evaluate.row_aligns)")
      ->check(CLI::IsMember({"predicted", "read"}));
}

LinkRule LinkOptions::rule(RowAligns of_run) const {
  return {row_aligns.empty() ? of_run : row_aligns_of(row_aligns), threshold};
}

}  // namespace softalign::app
