#include "framework/study/claim.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/config/fields.hpp"
#include "framework/config/value.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

constexpr int kDeepest = 64;              // nesting of parentheses and signs
constexpr std::size_t kMostTerms = 1000;  // numbers, measurements and operators

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

// Recursive descent: one function for each line of the grammar.
class Statement::Parser {
 public:
  Parser(Statement& statement, const Position& where)
      : out_(statement), text_(statement.text_), where_(where) {}

  void statement() {
    out_.left_ = sum();
    out_.comparison_ = comparison();
    out_.right_ = sum();
    if (at_ < text_.size()) fail("nothing more, or + - *");
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string_view rest = std::string_view(text_).substr(at_);
    throw SpecError("{}: expected {} at character {} of '{}'{}",
                    where_.str(),
                    expected,
                    at_ + 1,
                    printable(text_, 200),
                    rest.empty()
                        ? is_open() ? ", where it ends; if YAML ends it there, write it in quotes"
                                    : ", where it ends"
                        : fmt::format(", before '{}'", printable(rest)));
  }

  bool is_open() const { return std::ranges::count(text_, '(') > std::ranges::count(text_, ')'); }

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool next_is(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool skip(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  void demand(char c) {
    if (!skip(c)) fail(fmt::format("'{}'", c));
  }

  std::size_t add(Term term) {
    if (out_.terms_.size() == kMostTerms) fail(fmt::format("at most {} terms", kMostTerms));
    out_.terms_.push_back(term);
    return out_.terms_.size() - 1;
  }

  std::string comparison() {
    blanks();
    for (const char* name : {">=", "<=", ">", "<"}) {
      if (!std::string_view(text_).substr(at_).starts_with(name)) continue;
      at_ += std::string_view(name).size();
      return name;
    }
    fail("a comparison (< <= > >=)");
  }

  std::size_t sum() {
    std::size_t left = product();
    for (;;) {
      if (skip('+'))
        left = add({Term::Kind::add, 0, left, product()});
      else if (skip('-'))
        left = add({Term::Kind::subtract, 0, left, product()});
      else
        return left;
    }
  }

  std::size_t product() {
    std::size_t left = factor();
    while (skip('*')) left = add({Term::Kind::multiply, 0, left, factor()});
    return left;
  }

  std::size_t factor() {
    if (++depth_ > kDeepest) fail(fmt::format("at most {} nested parentheses", kDeepest));
    blanks();
    std::size_t term = 0;
    if (skip('-')) {
      term = add({Term::Kind::negate, 0, factor(), 0});
    } else if (skip('(')) {
      term = sum();
      demand(')');
    } else if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
      term = add({Term::Kind::number, number<double>("a number"), 0, 0});
    } else if (at_ < text_.size() && is_letter(text_[at_])) {
      term = measurement();
    } else {
      fail("a number, '(' or metric[lengths](part/variant) or metric[lengths](best)");
    }
    --depth_;
    return term;
  }

  template <class T>
  T number(std::string_view what) {
    T value{};
    const char* const end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc{}) fail(what);
    const bool padded = text_[at_] == '0' && rest - text_.data() > std::ptrdiff_t(at_) + 1;
    if (padded && is_digit(text_[at_ + 1])) fail(fmt::format("{} without leading zeros", what));
    at_ = usize(rest - text_.data());
    return value;
  }

  std::size_t measurement() {
    const std::size_t start = at_;
    Measurement found;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.'))
      found.metric += text_[at_++];
    if (skip('[')) {
      lengths(found, found.of_diagnostic() ? 0 : 1);
      demand(']');
    }
    demand('(');
    found.part = name();
    if (found.part == "best" && !next_is('/')) {
      found.part.clear();
      among(found);
    } else {
      demand('/');
      found.variant = name();
    }
    demand(')');
    found.text = text_.substr(start, at_ - start);
    out_.measurements_.push_back(std::move(found));
    return add({Term::Kind::measurement, 0, out_.measurements_.size() - 1, 0});
  }

  void among(Measurement& found) {
    constexpr std::string_view kWhere = "where";
    if (next_is(')')) return;
    if (!std::string_view(text_).substr(at_).starts_with(kWhere)) fail("')' or where PATH=VALUE");
    at_ += kWhere.size();
    do {
      Setting setting{name(), {}};
      demand('=');
      setting.value = parse_flow(value_text(), where_);
      found.among.push_back(std::move(setting));
    } while (skip(','));
  }

  // Reads a value up to a comma or a closing parenthesis outside of its blocks.
  std::string_view value_text() {
    blanks();
    const std::size_t start = at_;
    for (int blocks = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (blocks == 0 && (c == ',' || c == ')')) break;
      blocks += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    }
    const std::string_view value = std::string_view(text_).substr(start, at_ - start);
    if (value.empty()) fail("a value, as in where PATH=VALUE");
    return value;
  }

  void lengths(Measurement& found, Index least) {
    const char* const what = "source lengths, as 21-30, 61+ or 40";
    blanks();
    found.shortest = found.longest = number<Index>(what);
    if (skip('+')) {
      found.longest = std::numeric_limits<Index>::max();
    } else if (skip('-')) {
      blanks();
      found.longest = number<Index>(what);
    }
    if (found.shortest < least || found.longest < found.shortest)
      fail(fmt::format("rising lengths, from {}", least));
  }

  std::string name() {
    blanks();
    std::string name;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) ||
                                  text_[at_] == '.' || text_[at_] == '-'))
      name += text_[at_++];
    if (name.empty()) fail("a name, as in (part/variant)");
    return name;
  }

  Statement& out_;
  const std::string& text_;
  const Position& where_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Statement::Statement(std::string_view text, const Position& where) : text_(text) {
  Parser(*this, where).statement();
}

bool Statement::holds(double left, double right) const {
  if (comparison_ == ">=") return left >= right;
  if (comparison_ == "<=") return left <= right;
  return comparison_ == ">" ? left > right : left < right;
}

double Statement::value(std::size_t place, const std::vector<double>& values) const {
  const Term& term = terms_[place];
  switch (term.kind) {
    case Term::Kind::number:
      return term.number;
    case Term::Kind::measurement:
      return values.at(term.first);
    case Term::Kind::negate:
      return -value(term.first, values);
    case Term::Kind::add:
      return value(term.first, values) + value(term.second, values);
    case Term::Kind::subtract:
      return value(term.first, values) - value(term.second, values);
    case Term::Kind::multiply:
      return value(term.first, values) * value(term.second, values);
  }
  throw BugError("a statement with a term of no kind");
}

namespace {

std::string key_of(const Measurement& m) {
  std::string key =
      fmt::format("{}[{}-{}]({}/{}", m.metric, m.shortest, m.longest, m.part, m.variant);
  for (const Setting& setting : m.among)
    key += fmt::format(" {}={}", setting.path, setting.value.flow());
  return key;
}

// Returns whether the two sides always differ by a constant: bleu(p/a) > bleu(p/a) + 1.
bool says_nothing(const Statement& statement) {
  std::vector<std::string> keys;  // of the distinct measurements
  for (const Measurement& m : statement.measurements())
    if (std::ranges::count(keys, key_of(m)) == 0) keys.push_back(key_of(m));
  const auto difference = [&](std::size_t draw) {
    std::vector<double> values;  // arbitrary integers, so that results are not rounded
    for (const Measurement& m : statement.measurements()) {
      const auto n = usize(std::ranges::find(keys, key_of(m)) - keys.begin()) + 1;
      values.push_back(static_cast<double>((7919 * n * draw + 104729 * n * n + 31 * draw) % 1009));
    }
    return statement.left(values) - statement.right(values);
  };
  const double first = difference(1);
  const auto same = [&](double other) { return std::abs(first - other) <= 1e-9 * std::abs(first); };
  return same(difference(2)) && same(difference(3)) && same(difference(4));
}

}  // namespace

std::vector<StudyClaim> read_claims(
    const Value& list, const std::function<void(const Measurement&, const Position&)>& check) {
  std::vector<StudyClaim> claims;
  for (const Value& value : items_of(list, "claims")) {
    if (value.is_scalar())
      throw SpecError(
          "{}: a claim is a map; write - claim: {}", value.where.str(), printable(value.text, 200));
    Fields fields(value, "a claim");
    const Value& statement = fields.get("claim");
    StudyClaim claim{Statement(text_of(statement, "claim"), statement.where),
                     statement.where,
                     fields.text("because", "")};
    if (const Value* const expect = fields.find("expect")) try {
        claim.open = to_text(*expect, one_of("holds", "open")) == "open";
      } catch (const ScalarFault& fault) {
        throw SpecError("{}: expect: {}", expect->where.str(), fault.what());
      }
    fields.finish();
    if (claim.statement.measurements().empty())
      throw SpecError("{}: the claim '{}' speaks of no metric",
                      statement.where.str(),
                      printable(claim.statement.text(), 200));
    if (says_nothing(claim.statement))
      throw SpecError("{}: the claim '{}' does not depend on any result; compare two of them",
                      statement.where.str(),
                      printable(claim.statement.text(), 200));
    for (const Measurement& measurement : claim.statement.measurements())
      check(measurement, statement.where);
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace softalign
