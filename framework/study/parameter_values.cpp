#include <algorithm>
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/config/scalar.hpp"
#include "framework/study/parameter.hpp"

namespace softalign {

std::string number_for_all(double x) {
  std::string text = number_text(x);
  if (const auto e = text.find('e'); e != text.npos && text.find('.') == text.npos)
    text.insert(e, ".0");
  return text;
}

bool same_value(const Value& a, const Value& b) {
  if (a.type != b.type) return false;
  if (!a.is_scalar()) {
    if (a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) return false;
    for (std::size_t i = 0; i < a.items.size(); ++i)
      if (!same_value(a.items[i], b.items[i])) return false;
    for (std::size_t i = 0; i < a.entries.size(); ++i)
      if (a.entries[i].key != b.entries[i].key ||
          !same_value(a.entries[i].value, b.entries[i].value))
        return false;
    return true;
  }
  if (a.text == b.text) return true;
  if (a.quoted || b.quoted) return false;
  try {
    return to_number(a) == to_number(b);
  } catch (const ScalarFault&) {
    return false;
  }
}

Value number(double x, const Position& where, bool whole) {
  if (whole) return Value::scalar(fmt::format("{}", static_cast<Index>(std::llround(x))), where);
  return Value::scalar(number_for_all(std::stod(fmt::format("{:.6g}", x))), where);
}

double SweepParameter::first_multiple() const { return std::ceil(low / step - 1e-9) * step; }
double SweepParameter::last_multiple() const { return std::floor(high / step + 1e-9) * step; }

Value SweepParameter::draw(std::uint64_t seed, Index index, std::uint64_t attempt) const {
  const RandomStream stream(seed, "sweep/" + path);
  const auto counter = static_cast<std::uint64_t>(index);
  if (kind == Kind::values)
    return values[stream.below(static_cast<std::uint32_t>(values.size()), counter, attempt)];
  // 32 bits, never 0 nor 1.
  const double u = (static_cast<double>(stream.word(counter, attempt)) + 0.5) / 4294967296.0;
  double x = 0;
  switch (kind) {
    case Kind::values:
      break;
    case Kind::uniform:
      x = low + (high - low) * u;
      break;
    case Kind::int_uniform:
      x = std::min(high, low + std::floor(u * (high - low + 1)));
      break;
    case Kind::log_uniform:
      x = exact::exp(exact::log(low) + (exact::log(high) - exact::log(low)) * u);
      break;
    case Kind::normal:
      x = low + high * stream.normal(counter, attempt);
      break;
  }
  if (step > 0) x = std::round(x / step) * step;
  if (kind != Kind::normal)
    x = step > 0 ? std::clamp(x, first_multiple(), last_multiple()) : std::clamp(x, low, high);
  const bool whole = kind == Kind::int_uniform || (step >= 1 && step == std::floor(step));
  return number(x, where, whole);
}

}  // namespace softalign
