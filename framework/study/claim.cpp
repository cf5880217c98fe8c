#include "framework/study/claim.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/config/fields.hpp"
#include "framework/config/scalar.hpp"

namespace softalign {
namespace {

constexpr double kLeastP = 0.001;  // 1,000 resamples give no smaller one

std::string key_of(const Measurement& m) {
  std::string key =
      fmt::format("{}[{}-{}]({}/{}", m.metric, m.shortest, m.longest, m.part, m.variant);
  for (const Setting& setting : m.among)
    key += fmt::format(" {}={}", setting.path, setting.value.flow());
  return key;
}

// Whether both sides differ by the same, whatever is measured: bleu(p/a) > bleu(p/a) + 1.
bool says_nothing(const Statement& statement) {
  std::vector<std::string> keys;  // of what is measured, each once
  for (const Measurement& m : statement.measurements())
    if (std::ranges::count(keys, key_of(m)) == 0) keys.push_back(key_of(m));
  const auto difference = [&](std::size_t draw) {
    std::vector<double> values;  // any whole numbers, which no rounding touches
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

// fields' `key` as `read` has it; throws SpecError with its place.
template <class Read>
auto option(Fields& fields, std::string_view key, const Read& read)
    -> std::optional<decltype(read(std::declval<Value>()))> {
  const Value* const value = fields.find(key);
  if (!value) return {};
  try {
    return read(*value);
  } catch (const ScalarFault& fault) {
    throw SpecError("{}: {}: {}", value->where.str(), key, fault.what());
  }
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
    const auto is = [&](std::string_view key, const char* usual, const char* other) {
      return option(fields, key, [&](const Value& v) {
               return to_text(v, one_of(usual, other));
             }) == other;
    };
    claim.open = is("expect", "holds", "open");
    claim.all_seeds = is("seeds", "mean", "all");
    claim.p = option(fields, "p", [](const Value& v) { return to_number(v, between(kLeastP, 1)); });
    fields.finish();
    if (claim.statement.measurements().empty())
      throw SpecError("{}: the claim '{}' speaks of no metric",
                      statement.where.str(),
                      printable(claim.statement.text(), 200));
    if (says_nothing(claim.statement))
      throw SpecError("{}: the claim '{}' does not depend on any result; compare two of them",
                      statement.where.str(),
                      printable(claim.statement.text(), 200));
    if (claim.p && std::ranges::any_of(claim.statement.measurements(), &Measurement::of_diagnostic))
      throw SpecError(
          "{}: p asks how the test sentences were drawn, and what diagnostics find has one number "
          "a "
          "run; remove p, and write seeds: all",
          statement.where.str());
    for (const Measurement& measurement : claim.statement.measurements())
      check(measurement, statement.where);
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace softalign
