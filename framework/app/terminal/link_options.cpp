#include "framework/app/terminal/link_options.hpp"

#include <charconv>

namespace softalign::app {

void LinkOptions::add_to(CLI::App& command) {
  command
      .add_option("--threshold",
                  threshold,
                  "of links: where a weight is at least so much (default: where the weights of a "
                  "target word are largest, all that tie)")
      ->check([](const std::string& text) {  // CLI::Range lets nan pass
        const char* const end = text.data() + text.size();
        double value = 0;
        const auto read = std::from_chars(text.data(), end, value);
        const bool right = read.ec == std::errc() && read.ptr == end && value >= 0 && value <= 1;
        return right ? std::string() : "a weight is a number from 0 to 1";
      });
  command
      .add_option("--row-aligns",
                  row_aligns,
                  "of links: which word's a row of weights is, the one predicted with it or the "
                  "one read at its step (default: the run's evaluate.row_aligns)")
      ->check(CLI::IsMember({"predicted", "read"}));
}

LinkRule LinkOptions::rule(RowAligns of_run) const {
  return {row_aligns.empty() ? of_run : row_aligns_of(row_aligns), threshold};
}

}  // namespace softalign::app
