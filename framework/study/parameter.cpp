#include "framework/study/parameter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/config/fields.hpp"
#include "framework/config/value.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {
    "values", "uniform", "int_uniform", "log_uniform", "normal"};  // in the order of the enum

constexpr Index kMostValues = 100000;

bool is_integer(const Value& value) {
  try {
    to_integer(value);
    return true;
  } catch (const ScalarFault&) {
    return false;
  }
}

Value exact_number(double x, const Position& where) {
  return Value::scalar(number_for_all(std::stod(fmt::format("{:.12g}", x))), where);
}

// Returns a key that is the same for equal values, such as 0.001 and 1e-3.
std::string key_of(const Value& value) {
  if (!value.is_scalar() || value.quoted) return value.flow();
  try {
    return number_text(to_number(value));
  } catch (const ScalarFault&) {
    return value.flow();
  }
}

// Reads the keys of a parameter's block.
class Reader {
 public:
  explicit Reader(const Value::Entry& entry)
      : fields_(entry.value, fmt::format("parameter '{}'", printable(entry.key))) {
    parameter_.path = entry.key;
    parameter_.where = entry.where;
  }

  SweepParameter read() {
    const char* const kinds[] = {"value", "values", "types", "range", "linspace", "geomspace"};
    std::string found;
    for (const char* const kind : kinds) {
      const Value* const value = fields_.find(kind);
      if (!value) continue;
      if (!found.empty())
        fault(value->where, " has both '{}' and '{}'; give one of them", found, kind);
      found = kind;
      given_ = value;
    }
    if (found.empty())
      distribution();
    else
      list(found);
    fields_.finish();
    std::set<std::string> seen;
    for (const Value& value : parameter_.values)
      if (!seen.insert(key_of(value)).second)
        fault(value.where, ": {} comes twice", value.describe());
    return std::move(parameter_);
  }

 private:
  void list(const std::string& kind) {
    parameter_.kind_text = kind;
    if (kind == "value") {
      parameter_.values = {*given_};
    } else if (kind == "values") {
      parameter_.values = items_of(*given_, "values");
      if (parameter_.values.empty())
        fault(given_->where, " has an empty list of values; give one or more");
    } else if (kind == "types") {
      types();
    } else {
      parameter_.spacing = kind == "geomspace" ? "log" : "linear";
      if (kind == "range")
        range();
      else
        spaced(kind == "geomspace");
    }
  }

  void types() {
    if (text_of(*given_, "types") != "all")
      throw SpecError("{}: types: write 'all', with 'exclude' for those to leave out; or values",
                      given_->where.str());
    if (!parameter_.path.ends_with(".type"))
      throw SpecError("{}: 'types' goes with a plugin's type: {}.type",
                      given_->where.str(),
                      printable(parameter_.path));
    parameter_.all_types = true;
    if (const Value* const excluded = fields_.find("exclude"))
      parameter_.excluded = items_of(*excluded, "exclude");
  }

  void range() {
    Fields fields(*given_, "range");
    const Value &start = fields.get("start"), &stop = fields.get("stop");
    const Value* const step = fields.find("step");
    fields.finish();
    const double first = number_of(start, "start"), last = number_of(stop, "stop"),
                 by = step ? number_of(*step, "step") : 1;
    constexpr double kFar = 1e15;  // below 2^53: doubles represent all integers up to there
    if (std::max(std::abs(first), std::abs(last)) > kFar)
      fault(given_->where, ": a range ends at {:g}", kFar);
    if (by == 0) throw SpecError("{}: the step of a range must not be 0", step->where.str());
    if ((last - first) / by < 0)
      fault(given_->where,
            ": the range from {} to {} by {} is empty",
            start.text,
            stop.text,
            step ? step->text : "1");
    const double steps = std::floor((last - first) / by + 1e-9);
    const bool whole = is_integer(start) && (!step || is_integer(*step));
    if (steps >= static_cast<double>(kMostValues))
      fault(given_->where, " has more than {} values", kMostValues);
    for (Index i = 0; i <= static_cast<Index>(steps); ++i) {
      const double x = first + static_cast<double>(i) * by;
      parameter_.values.push_back(whole ? number(x, given_->where, true)
                                        : exact_number(x, given_->where));
    }
  }

  void spaced(bool logarithmic) {
    Fields fields(*given_, logarithmic ? "geomspace" : "linspace");
    const Value &min = fields.get("min"), &max = fields.get("max"), &num = fields.get("num");
    fields.finish();
    bounds(min, max, logarithmic);
    const Index count = integer_of(num, "num", between(2, kMostValues));
    std::vector<double> spaced;
    for (Index i = 0; i < count; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(count - 1);
      const double low = parameter_.low, high = parameter_.high;
      const double x = i == 0           ? low
                       : i == count - 1 ? high
                       : logarithmic    ? low * exact::pow(high / low, share)
                                        : low + (high - low) * share;
      spaced.push_back(std::stod(fmt::format("{:.6g}", x)));
    }
    const bool whole =
        is_integer(min) && is_integer(max) &&
        std::all_of(spaced.begin(), spaced.end(), [](double x) { return x == std::floor(x); });
    for (const double x : spaced) parameter_.values.push_back(number(x, given_->where, whole));
  }

  void bounds(const Value& min, const Value& max, bool logarithmic) {
    parameter_.low = number_of(min, "min");
    parameter_.high = number_of(max, "max");
    if (parameter_.low >= parameter_.high)
      fault(min.where,
            ": the range from {} to {} is empty; min must be below max",
            min.text,
            max.text);
    if (logarithmic && parameter_.low <= 0)
      fault(min.where, ": min must be above 0 on a logarithmic scale");
  }

  void distribution() {
    const Value* const named = fields_.find("distribution");
    const Value *const min = fields_.find("min"), *const max = fields_.find("max");
    const Value *const mu = fields_.find("mu"), *const sigma = fields_.find("sigma");
    const Value* const q = fields_.find("q");
    if (!named && !(min && max)) {
      fields_.finish();  // reports an unknown key, perhaps a typing error, first
      fault(parameter_.where,
            " says no values; give one of value, values, types, range, linspace, "
            "geomspace, or a distribution");
    }
    const bool whole = min && max && is_integer(*min) && is_integer(*max);
    const std::string name = named ? kind_of(*named) : whole ? "int_uniform" : "uniform";
    parameter_.kind_text = name + (named ? "" : " (inferred)");
    const auto need = [&](const Value* a, const Value* b, const char* what) {
      if (!a || !b) fault(parameter_.where, ": {} needs {}", name, what);
    };
    if (name == "normal") {
      need(mu, sigma, "mu and sigma");
      refuse(min, name), refuse(max, name);
      parameter_.kind = SweepParameter::Kind::normal;
      parameter_.low = number_of(*mu, "mu");
      parameter_.high = number_of(*sigma, "sigma");
      if (parameter_.high <= 0) throw SpecError("{}: sigma must be above 0", sigma->where.str());
    } else {
      need(min, max, "min and max");
      refuse(mu, name), refuse(sigma, name);
      const bool logarithmic = name == "log_uniform_values";
      bounds(*min, *max, logarithmic);
      parameter_.kind = logarithmic         ? SweepParameter::Kind::log_uniform
                        : name == "uniform" ? SweepParameter::Kind::uniform
                                            : SweepParameter::Kind::int_uniform;
      if (name == "int_uniform" && !whole)
        throw SpecError("{}: int_uniform needs integers for min and max", min->where.str());
    }
    if (q) {
      parameter_.step = number_of(*q, "q");
      if (parameter_.step <= 0) throw SpecError("{}: q must be above 0", q->where.str());
      if (name != "normal" && parameter_.first_multiple() > parameter_.last_multiple())
        throw SpecError("{}: there is no multiple of {} from {} to {}",
                        q->where.str(),
                        q->text,
                        min->text,
                        max->text);
      whole_steps_ = is_integer(*q);
    }
    if (q && !whole_steps_ && parameter_.kind == SweepParameter::Kind::int_uniform)
      throw SpecError("{}: q of int_uniform must be an integer", q->where.str());
  }

  std::string kind_of(const Value& named) const {
    const std::string name = text_of(named, "distribution");
    if (name == "log_uniform")
      throw SpecError(
          "{}: log_uniform is read in two ways (min and max as exponents, or as values); "
          "log_uniform_values with the values themselves is the one here",
          named.where.str());
    try {
      return to_text(named, one_of("uniform", "int_uniform", "log_uniform_values", "normal"));
    } catch (const ScalarFault& fault) {
      throw SpecError("{}: distribution: {}", named.where.str(), fault.what());
    }
  }

  void refuse(const Value* value, const std::string& name) const {
    if (value) fault(value->where, ": not for {}", name);
  }

  // text: the message after the parameter's name.
  template <class... Values>
  [[noreturn]] void fault(const Position& where,
                          fmt::format_string<const Values&...> text,
                          const Values&... values) const {
    throw SpecError("{}: parameter '{}'{}",
                    where.str(),
                    printable(parameter_.path),
                    fmt::format(text, values...));
  }

  Fields fields_;
  SweepParameter parameter_;
  const Value* given_ = nullptr;
  bool whole_steps_ = false;
};

}  // namespace

std::string SweepParameter::scale() const {
  return is_finite() ? spacing : kind == Kind::log_uniform ? "log" : "linear";
}

std::string_view to_string(SweepParameter::Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

bool from_string(std::string_view name, SweepParameter::Kind& kind) {
  const auto found = std::ranges::find(kKinds, name);
  if (found == kKinds.end()) return false;
  kind = static_cast<SweepParameter::Kind>(found - kKinds.begin());
  return true;
}

SweepParameter read_parameter(const Value::Entry& entry) {
  if (!entry.value.is_map())
    throw SpecError("{}: parameter '{}': say how it is tried: {{values: [..]}}, {{range: ..}}, ...",
                    entry.where.str(),
                    printable(entry.key));
  return Reader(entry).read();
}

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
  // u has 32 random bits and is never 0 or 1.
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

bool from_string(std::string_view text, Value& value) {
  value = parse_flow(text, {"the plan"});
  return true;
}

bool from_string(std::string_view text, Override& setting) {
  setting = parse_override(text, {"the plan"});
  return !setting.remove;
}

}  // namespace softalign
