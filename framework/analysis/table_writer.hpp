// Tables for other programs: CSV by RFC 4180 (lines end in CR LF) or a JSON array of objects. A number has the shortest
// text that reads back as the same bits; the same rows give the same bytes on any machine.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// A value whose type exists only in JSON, as JSON text: true, [5,10]. CSV has the same text.
struct JsonValue {
  std::string text;
  bool operator==(const JsonValue&) const = default;
};

// An empty cell and NaN are an empty field in CSV (an empty text is "") and null in JSON.
using Cell = std::variant<std::monostate, Index, double, std::string, JsonValue>;

enum class TableFormat { csv, json };

class TableWriter {
 public:
  TableWriter(TableFormat format, std::vector<std::string> columns);
  void row(const std::vector<Cell>& cells);  // one cell for each column, else throws BugError
  std::string finish();                      // the whole table

 private:
  TableFormat format_;
  std::vector<std::string> columns_;
  std::vector<std::string> keys_;  // the column names as JSON
  std::string out_;
  bool empty_ = true;
};

}  // namespace softalign
