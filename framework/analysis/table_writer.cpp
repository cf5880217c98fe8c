#include "framework/analysis/table_writer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/config/value.hpp"

namespace softalign {
namespace {

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string csv_text(const std::string& text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out(1, '"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out.push_back('"');
  return out;
}

std::string field(const Cell& cell, TableFormat format) {
  const bool csv = format == TableFormat::csv;
  if (const auto* number = std::get_if<Index>(&cell)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&cell))
    return csv ? csv_text(*text) : json_text(*text);
  if (const auto* value = std::get_if<JsonValue>(&cell))
    return csv ? csv_text(value->text) : value->text;
  if (const auto* number = std::get_if<double>(&cell)) {
    if (std::isfinite(*number)) return number_text(*number);
    if (csv && std::isinf(*number)) return *number > 0 ? "inf" : "-inf";
  }
  return csv ? "" : "null";
}

}  // namespace

TableWriter::TableWriter(TableFormat format, std::vector<std::string> columns)
    : format_(format), columns_(std::move(columns)) {
  for (const std::string& column : columns_) keys_.push_back(json_text(column));
  if (format_ == TableFormat::json) {
    out_.push_back('[');
    return;
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) out_ += ',';
    out_ += csv_text(columns_[c]);
  }
  out_ += "\r\n";
}

void TableWriter::row(const std::vector<Cell>& cells) {
  if (cells.size() != columns_.size())
    throw BugError("a row of {} cells for {} columns", cells.size(), columns_.size());
  const bool csv = format_ == TableFormat::csv;
  if (!csv) out_ += empty_ ? "\n{" : ",\n{";
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) out_ += csv ? "," : ", ";
    if (!csv) out_.append(keys_[c]).append(": ");
    out_ += field(cells[c], format_);
  }
  out_ += csv ? "\r\n" : "}";
  empty_ = false;
}

std::string TableWriter::finish() {
  if (format_ == TableFormat::json) out_ += empty_ ? "]\n" : "\n]\n";
  return std::move(out_);
}

}  // namespace softalign
