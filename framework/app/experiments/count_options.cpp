#include "framework/app/experiments/count_options.hpp"

#include "framework/app/terminal/number_option.hpp"
#include "framework/base/error.hpp"

namespace softalign::app {

void CountOptions::add_to(CLI::App& command, const char* symbols_default) {
  command
      .add_option(
          "--symbols",
          symbols,
          fmt::format("symbols on the source and the target side (default: {})", symbols_default))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(integer(between(4, kMostSymbols)));
  command
      .add_option("--lengths",
                  lengths,
                  "source and target positions, with </s>, that multiplications are counted for "
                  "(default: 20)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(integer(between(2, kLongestSentence)));
}

void CountOptions::check() const {
  for (const auto& [option, numbers] : {std::pair("--symbols", &symbols), {"--lengths", &lengths}})
    if (numbers->size() > 2)
      throw SpecError("{}: {} numbers; give SOURCE,TARGET", option, numbers->size());
}

}  // namespace softalign::app
