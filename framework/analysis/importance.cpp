#include "framework/analysis/importance.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "framework/base/array.hpp"
#include "framework/base/elementary.hpp"
#include "framework/base/linear_algebra.hpp"

namespace softalign {
namespace {

using Column = xt::xtensor<double, 1>;  // [runs]
using Columns = std::vector<Column>;

double dot(const Column& a, const Column& b) { return sum_of(a * b); }

// Returns the residual sum of squares of y after least squares on these columns, which may be linearly dependent.
double residual(const Columns& columns, const Column& y) {
  if (columns.empty()) return dot(y, y);
  xt::xtensor<double, 2> x({y.size(), columns.size()});
  for (std::size_t i = 0; i < columns.size(); ++i)
    xt::col(x, static_cast<std::ptrdiff_t>(i)) =
        columns[i] / std::sqrt(dot(columns[i], columns[i]));
  const Array1d coefficients = least_squares(x, y, 1e-10);
  const Column rest = y - xt::sum(x * coefficients, {1});
  return dot(rest, rest);
}

Column centred(const Column& numbers) {
  return numbers - sum_of(numbers) / static_cast<double>(numbers.size());
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = fault == std::errc() && end == text.data() + text.size();
  return is_number && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// Returns columns for a parameter with many numeric values: z and its square.
Columns parabola(Column numbers) {
  const auto [least, most] = std::ranges::minmax_element(numbers);
  if (*least > 0 && *most >= 10 * *least)
    for (double& number : numbers) number = exact::log(number);
  const Column z = centred(numbers);
  return {z, centred(z * z)};
}

// Returns the columns of a parameter that has these values, [runs].
Columns columns_of(const std::vector<std::string>& values) {
  constexpr std::size_t kLevels = 4;
  std::map<std::string, std::size_t> levels;
  Column numbers = xt::zeros<double>({values.size()});
  bool are_numbers = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    levels.emplace(values[i], levels.size());
    const std::optional<double> number = number_of(values[i]);
    are_numbers = are_numbers && number;
    numbers(i) = number.value_or(0);
  }
  if (are_numbers && levels.size() > kLevels) return parabola(std::move(numbers));
  Columns columns(levels.size() - 1, xt::zeros<double>({values.size()}));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const std::size_t level = levels.at(values[i]); level > 0) columns[level - 1](i) = 1;
  for (Column& column : columns) column = centred(column);
  return columns;
}

using Given = std::map<std::string, std::vector<std::string>>;  // by path, [runs]; "": not set

// Returns the path of the plugin that decides whether the parameter, one of its options, is set; "" if none does.
std::string deciding_plugin(const std::string& path, const Given& given) {
  const std::vector<std::string>& values = given.at(path);
  for (const auto& [plugin, types] : given) {
    if (!plugin.ends_with(kType) || plugin == path ||
        !path.starts_with(plugin.substr(0, plugin.size() - kType.size() + 1)))
      continue;
    std::set<std::string> with, without;
    for (std::size_t run = 0; run < values.size(); ++run)
      (values[run].empty() ? without : with).insert(types[run]);
    if (std::ranges::none_of(with, [&](const auto& type) { return without.contains(type); }))
      return plugin;
  }
  return "";
}

// Returns the columns of a parameter. "Not set" is a value of its own, unless a plugin decides: the columns are then
// those of the runs that have the parameter, and 0 in the others.
Columns columns_of(const std::string& path, const Given& given) {
  const std::vector<std::string>& values = given.at(path);
  if (deciding_plugin(path, given).empty()) return columns_of(values);
  std::vector<std::string> set = values;
  std::erase(set, "");
  Columns columns;
  for (const Column& within : columns_of(set)) {
    Column& column = columns.emplace_back(xt::zeros<double>({values.size()}));
    for (std::size_t run = 0, at = 0; run < values.size(); ++run)
      if (!values[run].empty()) column(run) = within(at++);
  }
  return columns;
}

Columns products_of(const Columns& a, const Columns& b) {
  Columns products;
  for (const Column& one : a)
    for (const Column& other : b)
      if (Column product = centred(one * other); dot(product, product) > 0)
        products.push_back(std::move(product));
  return products;
}

void put_largest_first(std::vector<Effect>::iterator begin, std::vector<Effect>::iterator end) {
  std::stable_sort(begin, end, [](const Effect& a, const Effect& b) { return a.share > b.share; });
}

}  // namespace

std::optional<Importance> importance_of(const std::vector<Difference>& settings,
                                        const std::vector<double>& values) {
  Given given;
  for (std::size_t run = 0; run < settings.size(); ++run)
    for (const auto& [path, value] : settings[run]) {
      auto& of_path = given[path];
      of_path.resize(settings.size());
      of_path[run] = value;
    }
  given.erase("seed");
  std::vector<std::pair<std::string, Columns>> parameters;
  std::size_t levels = 1;
  for (const auto& [path, of_path] : given)
    if (Columns columns = columns_of(path, given); !columns.empty()) {
      levels += columns.size();
      parameters.emplace_back(path, std::move(columns));
    }
  if (parameters.size() < 2 || values.size() < 2 * levels) return std::nullopt;
  const Column y = centred(xt::adapt(values));
  const double whole = dot(y, y);
  if (!(whole > 0) || !std::isfinite(whole)) return std::nullopt;

  const auto main_effects = [&](const std::string& left_out) {
    Columns all;
    for (const auto& [path, columns] : parameters)
      if (path != left_out) all.insert(all.end(), columns.begin(), columns.end());
    return all;
  };
  const Columns all = main_effects("");
  const double rest = residual(all, y);
  const auto share = [&](double squares) { return std::max(squares, 0.) / whole; };
  Importance found{std::ssize(values), share(whole - rest), {}};
  for (const auto& [path, columns] : parameters)
    found.effects.push_back({{path}, share(residual(main_effects(path), y) - rest)});
  put_largest_first(found.effects.begin(), found.effects.end());
  const std::ptrdiff_t single = std::ssize(found.effects);
  for (std::size_t a = 0; a < parameters.size(); ++a)
    for (std::size_t b = a + 1; b < parameters.size(); ++b) {
      const std::string &one = parameters[a].first, &other = parameters[b].first;
      if (deciding_plugin(one, given) == other || deciding_plugin(other, given) == one) continue;
      Columns more = products_of(parameters[a].second, parameters[b].second);
      if (values.size() < 2 * (levels + more.size())) continue;
      more.insert(more.end(), all.begin(), all.end());
      found.effects.push_back({{one, other}, share(rest - residual(more, y))});
    }
  put_largest_first(found.effects.begin() + single, found.effects.end());
  return found;
}

}  // namespace softalign
