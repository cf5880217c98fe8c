// Task date_format against a date reader that is independent of the task's forms, and weekdays by Zeller's rule.
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/task.hpp"
#include "shared.hpp"

using namespace softalign;

namespace {

Dataset load(std::map<std::string, std::string> values = {}) {
  return task_with("date_format", std::move(values))->load(1, {});
}

std::string small(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

// The weekday of a date; Saturday is 0 (Zeller 1882).
int zeller(int y, int m, int d) {
  if (m < 3) {
    m += 12;
    --y;
  }
  return (d + 13 * (m + 1) / 5 + y + y / 4 - y / 100 + y / 400) % 7;
}

constexpr const char* kMonths = "jan feb mar apr may jun jul aug sep oct nov dec";
constexpr const char* kWeekdays = "sat sun mon tue wed thu fri";

int name_at(const char* names, const std::string& name) {
  const auto at = std::string(names).find(name.substr(0, 3));
  return at == std::string::npos ? -1 : static_cast<int>(at) / 4;
}

struct Date {
  int year = 0, month = 0, day = 0;
  int weekday = -1;  // Saturday is 0; -1: not written
  bool operator==(const Date&) const = default;
};

// Reads a date by custom: the day comes first with dots, the month with slashes, else the year.
Date read(const std::string& text) {
  Date date;
  std::vector<int> numbers;
  char separator = ' ';
  const std::regex parts("[a-z]+|[0-9]+");
  std::string words;
  for (std::sregex_iterator it(text.begin(), text.end(), parts), end; it != end; ++it) {
    const std::string part = it->str();
    if (std::isdigit(static_cast<unsigned char>(part[0]))) {
      if (part.size() == 8)
        return {
            stoi(part.substr(0, 4)), stoi(part.substr(4, 2)), stoi(part.substr(6)), date.weekday};
      if (!numbers.empty() && separator == ' ') separator = text[usize(it->position()) - 1];
      if (separator == ' ' && !numbers.empty())
        separator = text[usize(it->position()) - 2];  // "5. 3. 2021"
      numbers.push_back(stoi(part));
      continue;
    }
    if (part.size() > 2 && name_at(kMonths, part) >= 0) date.month = name_at(kMonths, part) + 1;
    if (part.size() > 2 && name_at(kWeekdays, part) >= 0) date.weekday = name_at(kWeekdays, part);
  }
  const bool year_first = numbers[0] > 31;
  date.year = year_first ? numbers[0] : numbers.back();
  if (numbers.size() == 2) {
    date.day = year_first ? numbers[1] : numbers[0];
  } else {
    const bool day_first = !year_first && separator == '.';
    date.month = year_first || day_first ? numbers[1] : numbers[0];
    date.day = year_first ? numbers[2] : day_first ? numbers[0] : numbers[1];
  }
  return date;
}

Date iso(std::string_view text) {
  const std::string whole(text);
  return {stoi(whole.substr(0, 4)), stoi(whole.substr(5, 2)), stoi(whole.substr(8)), -1};
}

// The form of a date: digits become 9, weekdays Weekday or Wday, and ordinal suffixes th.
std::string form_of(std::string_view text) {
  std::string form(text);
  for (const auto& [what, sign] :
       {std::pair("Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday", "Weekday"),
        std::pair("(Sun|Mon|Tue|Wed|Thu|Fri|Sat)(?![a-z])", "Wday")})
    form = std::regex_replace(form, std::regex(what), sign);
  return std::regex_replace(
      std::regex_replace(form, std::regex("[0-9]"), "9"), std::regex("st|nd|rd"), "th");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(date_format)

BOOST_AUTO_TEST_CASE(what_is_written_is_the_date_that_is_wanted) {
  const Dataset data = load();
  BOOST_TEST(data.has_links);
  std::set<std::string> forms;
  for (const Example example : data.train.examples) {
    const Date wanted = iso(example.target_text);
    Date written = read(small(example.source_text));
    BOOST_TEST_CONTEXT(example.source_text << " -> " << example.target_text) {
      if (written.weekday >= 0)
        BOOST_TEST(written.weekday == zeller(wanted.year, wanted.month, wanted.day));
      written.weekday = -1;
      BOOST_TEST((written == wanted));
      BOOST_TEST((wanted.year >= 1900 && wanted.year <= 2099));
    }
    BOOST_TEST(data.source->encode(example.source_text) == vector_of(example.source));
    BOOST_TEST(data.target->encode(example.target_text) == vector_of(example.target));
    if (wanted.month == 1) forms.insert(form_of(example.source_text));
  }
  BOOST_TEST(forms.size() > 300u);
}

BOOST_AUTO_TEST_CASE(no_date_of_a_split_is_in_another) {
  const Dataset data = load({{"examples.test", "5000"}, {"examples.dev", "5000"}});
  std::map<std::string, std::string> split_of;
  for (const Split* split : {&data.train, &data.dev, &data.test})
    for (const Example example : split->examples)
      BOOST_TEST(split_of.emplace(example.target_text, split->name).first->second == split->name);
}

// A digit is linked to the same digit in the source, but a month's name, or a number of one digit, gives both digits.
BOOST_AUTO_TEST_CASE(links_are_where_characters_come_from) {
  const Dataset data = load();
  BOOST_TEST(!data.source->has_pieces());  // so symbols are not joined to words
  BOOST_TEST(!load_vocabulary(data.source->serialize())->has_pieces());
  for (const Example example : data.test.examples) {
    std::vector<std::set<Index>> sources(10);
    for (const Link& link : example.links) sources[usize(link.target)].insert(link.source);
    const std::string text(example.source_text), target(example.target_text);
    BOOST_TEST_CONTEXT(text) for (std::size_t t = 0; t < 10; ++t) {
      if (target[t] == '-') {
        BOOST_TEST(sources[t].empty());
        continue;
      }
      BOOST_REQUIRE(!sources[t].empty());
      const char first = text[usize(*sources[t].begin())];
      const bool month = t == 5 || t == 6;
      if (sources[t].size() > 1) {
        const std::string name = text.substr(usize(*sources[t].begin()), sources[t].size());
        BOOST_TEST(month);
        BOOST_TEST(name_at(kMonths, small(name)) + 1 == stoi(target.substr(5, 2)));
      } else if (first != target[t]) {  // the 0 of 05 comes from a 5
        BOOST_TEST(target[t] == '0');
        BOOST_TEST(first == target[t + 1]);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(forms_are_what_the_options_say) {
  const Dataset plain = load({{"weekdays", "false"}, {"cases", "false"}});
  std::set<std::string> forms;
  for (const Example example : plain.train.examples) {
    const std::string text(example.source_text);
    BOOST_TEST(read(small(text)).weekday == -1);
    BOOST_TEST((!contains(text, "MAR") && !contains(text, "mar")));
    if (iso(example.target_text).month == 3 && iso(example.target_text).day > 9)
      forms.insert(form_of(text));
  }
  // 12 patterns of numbers and 36 with a month's name; 5 of them differ only for days below 10.
  BOOST_TEST(forms.size() == 43u);
}

BOOST_AUTO_TEST_SUITE_END()
