#include "framework/study/claim.hpp"

#include "framework/config/fields.hpp"
#include "framework/config/scalar.hpp"

namespace softalign {

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
                     fields.text("because", ""),
                     false};
    if (const Value* const expect = fields.find("expect")) {
      try {
        claim.open = to_text(*expect, one_of("holds", "open")) == "open";
      } catch (const ScalarFault& fault) {
        throw SpecError("{}: expect: {}", expect->where.str(), fault.what());
      }
    }
    fields.finish();
    if (claim.statement.measurements().empty())
      throw SpecError("{}: the claim '{}' speaks of no metric",
                      statement.where.str(),
                      printable(claim.statement.text(), 200));
    for (const Measurement& measurement : claim.statement.measurements())
      check(measurement, statement.where);
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace softalign
