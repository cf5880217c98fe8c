#include "framework/eval/counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/config/registry.hpp"

namespace softalign {
namespace {

bool is_there(const EvaluatedSentence& sentence, CountSource source) {
  switch (source) {
    case CountSource::forced:
      return sentence.forced != nullptr;
    case CountSource::decoded:
      return sentence.decoded != nullptr;
    case CountSource::numbers:
      return sentence.decoded != nullptr && sentence.of_numbers;
    case CountSource::attention:
      return sentence.attention != nullptr;
    case CountSource::baseline:
      return sentence.ibm_model1 != nullptr;
  }
  return false;
}

}  // namespace

std::vector<std::string_view> EvaluatedSentence::all_references() const {
  std::vector<std::string_view> all = {example.target_text};
  for (const std::string& one : references)
    if (!one.empty()) all.push_back(one);
  return all;
}

bool CountColumn::holds(double number) const {
  if (stored == Stored::float64) return true;
  const double most = stored == Stored::uint8 ? 255 : std::numeric_limits<std::int32_t>::max();
  const double least = stored == Stored::uint8 ? 0 : -most;
  return number == std::floor(number) && number >= least && number <= most;
}

const char* name_of(CountSource source) {
  switch (source) {
    case CountSource::forced:
      return "forced";
    case CountSource::decoded:
      return "decoded";
    case CountSource::numbers:
      return "numbers";
    case CountSource::attention:
      return "attention";
    case CountSource::baseline:
      return "baseline";
  }
  return "";
}

namespace {

// Returns whether two columns count with the same function: every lambda expression has its own type.
bool counts_the_same(const CountColumn& a, const CountColumn& b) {
  using Function = void(const EvaluatedSentence&, std::span<double>);
  const auto* const one = a.count.target<Function*>();
  const auto* const other = b.count.target<Function*>();
  return a.count.target_type() == b.count.target_type() && (!one || *one == *other);
}

bool is_same(const CountColumn& a, const CountColumn& b) {
  const auto facts = [](const CountColumn& c) {
    return std::tie(c.name, c.long_name, c.source, c.stored, c.units, c.width, c.part);
  };
  return facts(a) == facts(b) && counts_the_same(a, b);
}

}  // namespace

CountLayout::CountLayout(std::vector<CountColumn> columns) {
  for (CountColumn& column : columns) {
    if (!is_plugin_name(column.name))
      throw SpecError("a metric has a column '{}'; name it with letters, digits, '_' and '-'",
                      printable(column.name));
    const auto same = std::ranges::find(columns_, column.name, &CountColumn::name);
    if (same != columns_.end()) {
      if (!is_same(*same, column))
        throw SpecError("two metrics have different columns '{}'; rename the plugin's column",
                        column.name);
      continue;
    }
    places_.push_back(width_);
    width_ += column.width;
    columns_.push_back(std::move(column));
  }
}

Index CountLayout::place(std::string_view column, Index width) const {
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c].name == column && columns_[c].width == width) return places_[c];
  throw BugError("no column '{}' of {} in the counts of a sentence", column, width);
}

CountTable::CountTable(std::shared_ptr<const CountLayout> layout, Index sentences)
    : layout_(std::move(layout)),
      numbers_(Array2d::shape_type{usize(sentences), usize(layout_->width())}, kUndefined) {}

std::span<double> CountTable::row(Index sentence) {
  return {&numbers_(sentence, 0), numbers_.shape(1)};
}

std::span<const double> CountTable::row(Index sentence) const {
  return {&numbers_(sentence, 0), numbers_.shape(1)};
}

void CountTable::count(Index sentence, const EvaluatedSentence& evaluated) {
  std::span<double> left = row(sentence);
  for (const CountColumn& column : layout_->columns()) {
    const auto width = usize(column.width);
    if (is_there(evaluated, column.source)) column.count(evaluated, left.first(width));
    left = left.subspan(width);
  }
}

bool is_measured(const CountTable& counts, const CountColumn& column) {
  const auto place = usize(counts.layout().place(column.name, column.width));
  return counts.sentences() > 0 && !std::isnan(counts.row(0)[place]);
}

CountRows rows_of(const CountTable& table) {
  CountRows rows;
  for (Index i = 0; i < table.sentences(); ++i) rows.push_back(table.row(i).data());
  return rows;
}

CountRows rows_of(const CountTable& table, std::span<const Index> sentences) {
  CountRows rows;
  for (const Index i : sentences) rows.push_back(table.row(i).data());
  return rows;
}

double Counts::largest(std::string_view column, Index width, Index part) const {
  const Index place = layout_.place(column, width) + part;
  double largest = kUndefined;
  for (const double* row : rows_)
    if (!(largest >= row[place])) largest = std::isnan(row[place]) ? largest : row[place];
  return largest;
}

}  // namespace softalign
