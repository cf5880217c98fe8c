// Task date_format: dates in English notations, character by character, to be converted to ISO
// 8601: "Fri, 5th of March 2021" -> 2021-03-05. The splits have different dates.
//
// A form is a pattern, an optional weekday before it, and the case of its letters. Patterns contain
//   %Y 2021   %B March  %b Mar  %m 03  %n 3   %d 05  %e 5  %o 5th   and %A Friday, %a Fri.
// If day and month are both numbers, the separator shows which is first, as is customary: the day
// before dots (05.03.2021), the month before slashes (03/05/2021), the year before hyphens.
#include <array>
#include <chrono>
#include <set>
#include <string_view>

#include "framework/base/types.hpp"
#include "framework/data/synthetic.hpp"
#include "framework/data/text.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {
namespace {

using Names = std::span<const std::string_view>;
constexpr std::string_view kMonths[] = {"January",
                                        "February",
                                        "March",
                                        "April",
                                        "May",
                                        "June",
                                        "July",
                                        "August",
                                        "September",
                                        "October",
                                        "November",
                                        "December"};
constexpr std::string_view kWeekdays[] = {
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

constexpr std::string_view kNumeric[] = {"%Y-%m-%d",
                                         "%Y-%n-%e",
                                         "%Y/%m/%d",
                                         "%Y/%n/%e",
                                         "%Y.%m.%d",
                                         "%Y %m %d",
                                         "%Y%m%d",
                                         "%m/%d/%Y",
                                         "%n/%e/%Y",
                                         "%d.%m.%Y",
                                         "%e.%n.%Y",
                                         "%e. %n. %Y"};
constexpr std::string_view kNamed[] = {
    "%e %B %Y",        "%e %B, %Y", "%d %B %Y",  "%o %B %Y",   "%o of %B %Y", "%o of %B, %Y",
    "the %o of %B %Y", "%e. %B %Y", "%e-%B-%Y",  "%e/%B/%Y",   "%e %b %Y",    "%e %b. %Y",
    "%d %b %Y",        "%d-%b-%Y",  "%d/%b/%Y",  "%e-%b-%Y",   "%o %b %Y",    "%o of %b %Y",
    "%B %e, %Y",       "%B %e %Y",  "%B %d, %Y", "%B %o, %Y",  "%B %o %Y",    "%B the %o, %Y",
    "%B-%e-%Y",        "%b %e, %Y", "%b %e %Y",  "%b. %e, %Y", "%b %d, %Y",   "%b %o, %Y",
    "%b-%d-%Y",        "%Y %B %e",  "%Y, %B %e", "%Y %B %o",   "%Y %b %d",    "%Y-%b-%d"};
constexpr std::string_view kBefore[] = {"", "%A, ", "%A ", "%a, ", "%a ", "%a. ", "on %A, "};

enum class Letters { as_they_are, small, large };

struct Form {
  std::string pattern;
  Letters letters;
};

struct DateOptions {
  std::vector<Index> years = {1900, 2099};
  bool weekdays = true;
  bool cases = true;
  SyntheticOptions::Examples examples;
  Index data_seed = 1;

  template <class V>
  void describe(V& v) {
    v("years", years, "first and last year, with four digits", between(1000, 9999));
    v("weekdays", weekdays, "allows a weekday before a date");
    v("cases", cases, "allows all letters in lower or in upper case");
    v("examples", examples, "sentences in each split; eight of ten dates are for training");
    v("data_seed",
      data_seed,
      "seed of the dates; does not depend on the seed of the run",
      at_least(0));
    v.check("years",
            years.size() == 2 && years[0] <= years[1],
            fmt::format("[{}] is not [first, last]; give two numbers in ascending order",
                        fmt::join(years, ", ")));
  }
};

std::vector<Form> all_forms(const DateOptions& options) {
  std::vector<Form> forms;
  const auto add = [&](const std::string& pattern, bool letters) {
    forms.push_back({pattern, Letters::as_they_are});
    if (!letters || !options.cases) return;
    forms.push_back({pattern, Letters::small});
    forms.push_back({pattern, Letters::large});
  };
  for (const std::string_view before : kBefore) {
    if (!before.empty() && !options.weekdays) break;
    for (const std::string_view pattern : kNumeric)
      add(fmt::format("{}{}", before, pattern), !before.empty());
    for (const std::string_view pattern : kNamed) add(fmt::format("{}{}", before, pattern), true);
  }
  return forms;
}

// The characters of a written date that belong to one of its parts.
struct Span {
  Index begin = 0;
  Index size = 0;
};

struct Written {
  std::string text;
  Span year, month, day;
};

std::string_view ordinal(unsigned day) {
  if (day / 10 == 1) return "th";
  return std::array{"th", "st", "nd", "rd"}[day % 10 < 4 ? day % 10 : 0];
}

char cased(char c, Letters letters) {
  if (letters == Letters::small && c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  if (letters == Letters::large && c >= 'a' && c <= 'z') return static_cast<char>(c - 'a' + 'A');
  return c;
}

Written write(const Form& form, std::chrono::year_month_day date) {
  const auto month = static_cast<unsigned>(date.month()), day = static_cast<unsigned>(date.day());
  const std::string_view name = kMonths[month - 1];
  const std::string_view weekday =
      kWeekdays[std::chrono::weekday(std::chrono::sys_days(date)).c_encoding()];
  Written out;
  const auto put = [&](std::string_view text) {
    const Span span{std::ssize(out.text), std::ssize(text)};
    out.text += text;
    return span;
  };
  for (std::size_t i = 0; i < form.pattern.size(); ++i) {
    if (form.pattern[i] != '%') {
      out.text += form.pattern[i];
      continue;
    }
    switch (form.pattern[++i]) {
      case 'Y':
        out.year = put(fmt::format("{}", static_cast<int>(date.year())));
        break;
      case 'B':
        out.month = put(name);
        break;
      case 'b':
        out.month = put(name.substr(0, 3));
        break;
      case 'm':
        out.month = put(fmt::format("{:02}", month));
        break;
      case 'n':
        out.month = put(fmt::format("{}", month));
        break;
      case 'd':
        out.day = put(fmt::format("{:02}", day));
        break;
      case 'e':
        out.day = put(fmt::format("{}", day));
        break;
      case 'o':
        out.day = put(fmt::format("{}", day));
        put(ordinal(day));
        break;
      case 'A':
        put(weekday);
        break;
      case 'a':
        put(weekday.substr(0, 3));
        break;
    }
  }
  for (char& c : out.text) c = cased(c, form.letters);
  return out;
}

// Links a part of a date to its digits in the target: a number with as many digits is linked digit by
// digit; a month's name or a number of one digit is linked to each of them as a whole.
void link(Span from, Index to, Index digits, bool number, std::vector<Link>& links) {
  for (Index k = 0; k < digits; ++k) {
    if (number && from.size == digits)
      links.push_back({from.begin + k, to + k, true});
    else
      for (Index s = 0; s < from.size; ++s) links.push_back({from.begin + s, to + k, true});
  }
}

// The vocabulary of the characters of all forms, which include those of the target.
std::shared_ptr<const Vocabulary> alphabet() {
  std::set<std::string> characters;
  const auto add = [&](std::string_view text) {
    for (const char c : text)
      for (const Letters letters : {Letters::as_they_are, Letters::small, Letters::large})
        characters.insert(c == ' ' ? std::string(kSpaceMark) : std::string(1, cased(c, letters)));
  };
  for (const Names names : {Names(kMonths), Names(kWeekdays)})
    for (const std::string_view name : names) add(name);
  add("0123456789 ,.-/ stndrdth of the on");
  return std::make_shared<CharacterVocabulary>(
      "signs", std::vector<std::string>(characters.begin(), characters.end()));
}

class DateFormat final : public Task {
 public:
  using Options = DateOptions;
  explicit DateFormat(const Options& options) : options_(options) {}

  Dataset load(std::uint64_t, const Progress&) const override {
    using namespace std::chrono;
    const auto day_of = [](Index y) {
      return sys_days(year(static_cast<int>(y)) / January / 1).time_since_epoch().count();
    };
    const Index first = day_of(options_.years[0]), count = day_of(options_.years[1] + 1) - first;
    const RandomStream stream(static_cast<std::uint64_t>(options_.data_seed), "task/dates");
    const std::vector<Index> days = stream.permutation(count);
    const std::vector<Form> forms = all_forms(options_);
    Dataset data;
    data.source = data.target = alphabet();
    data.has_links = true;
    const auto fill =
        [&](Split& split, const char* name, Index examples, std::span<const Index> own) {
          const auto append = [&](const RandomStream& numbers, std::uint64_t i) {
            const Index day = own[numbers.below(static_cast<std::uint32_t>(own.size()), 0, i)];
            const Form& form = forms[numbers.below(static_cast<std::uint32_t>(forms.size()), 1, i)];
            draw(form, sys_days(chrono_days(first + day)), *data.source, split.examples);
          };
          fill_split(split, name, options_.data_seed, examples, append);
        };
    const std::span<const Index> all(days);
    const auto tenth = usize(count / 10);
    fill(data.train, "train", options_.examples.train, all.subspan(2 * tenth));
    fill(data.dev, "dev", options_.examples.dev, all.first(tenth));
    fill(data.test, "test", options_.examples.test, all.subspan(tenth, tenth));
    return data;
  }

  DataOutline outline() const override {
    const auto split = [](Index examples) {  // "1/2/2024" to "Wednesday, September 30th, 2024"
      return DataOutline::SplitOutline{.examples = examples,
                                       .source = DataOutline::Lengths::even(8, 32),
                                       .target = DataOutline::Lengths::even(10, 10)};
    };
    return {.source_symbols = alphabet()->size(),
            .target_symbols = alphabet()->size(),
            .train = split(options_.examples.train),
            .dev = split(options_.examples.dev),
            .test = split(options_.examples.test)};
  }

 private:
  static std::chrono::days chrono_days(Index count) {
    return std::chrono::days(static_cast<int>(count));
  }

  static void draw(const Form& form,
                   std::chrono::year_month_day date,
                   const Vocabulary& vocabulary,
                   Examples& examples) {
    const Written source = write(form, date);
    const Written target = write({"%Y-%m-%d", Letters::as_they_are}, date);
    const auto is_number = [&](Span s) { return source.text[usize(s.begin)] <= '9'; };
    std::vector<Link> links;
    link(source.year, target.year.begin, target.year.size, true, links);
    link(source.month, target.month.begin, 2, is_number(source.month), links);
    link(source.day, target.day.begin, 2, true, links);
    examples.append({vocabulary.encode(source.text),
                     vocabulary.encode(target.text),
                     links,
                     source.text,
                     target.text});
  }

  Options options_;
};

SOFTALIGN_TASK("date_format",
               DateFormat,
               "dates in hundreds of written forms, to ISO 8601, character by character");

}  // namespace
}  // namespace softalign
