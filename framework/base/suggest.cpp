#include "framework/base/suggest.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "framework/base/text.hpp"

namespace softalign {
namespace {

constexpr std::size_t kLongestName = 200;  // the distance takes time in the product of the lengths

// Edit distance with adjacent transpositions (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(row);
  }
  return previous[b.size()];
}

}  // namespace

bool alike(std::string_view given, std::string_view legal) {
  return given.size() <= kLongestName &&
         distance(lower_case(given), legal) <= std::max<std::size_t>(2, given.size() / 3);
}

std::string_view name_here(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"lr", "learning_rate"},
      {"batch_size", "batch.sentences"},
      {"hidden_size", "units"},
      {"num_epochs", "epochs"},
      {"max_steps", "max_updates"},
      {"beam_size", "width"},
      {"random_seed", "seed"}};
  const auto found = std::ranges::find(kNames, name, [](const auto& names) { return names.first; });
  return found == std::end(kNames) ? name : found->second;
}

std::string suggestion(std::string_view given, const std::vector<std::string>& legal) {
  if (legal.empty()) return "";
  const std::string start = lower_case(given.substr(0, kLongestName));
  const auto nearest = std::ranges::min_element(
      legal, {}, [&](const std::string& name) { return distance(start, name); });
  std::string text = ";";
  if (alike(given, *nearest)) text += fmt::format(" did you mean '{}'?", printable(*nearest));
  text += " legal: ";
  for (const std::string& name : legal)
    text += (&name == &legal.front() ? "" : ", ") + printable(name);
  return text;
}

std::string suggestion_among(std::string_view given,
                             const std::vector<std::string>& legal,
                             const std::vector<std::string>& known) {
  const std::string here = suggestion(given, legal);
  if (std::ranges::any_of(legal, [&](const auto& x) { return alike(given, x); })) return here;
  const std::string end = fmt::format(".{}", name_here(given));
  std::vector<std::string> elsewhere;
  std::ranges::copy_if(known, std::back_inserter(elsewhere), [&](const std::string& path) {
    return ("." + path).ends_with(end);
  });
  if (elsewhere.empty()) return here;
  return fmt::format("; did you mean {}?{}",
                     fmt::join(elsewhere, " or "),
                     here.substr(std::min<std::size_t>(1, here.size())));
}

}  // namespace softalign
