#include "framework/study/claim.hpp"

#include <algorithm>

#include "framework/config/fields.hpp"
#include "framework/config/scalar.hpp"

namespace softalign {
namespace {

constexpr double kLeastP = 0.001;  // 1,000 resamples give no smaller one

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
