// Scalars between text and type: strict reading, shortest writing, and limits in words. YAML 1.1's
// surprises (010 is 8, yes is true, '1' is 1) end here.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "framework/config/options.hpp"
#include "framework/config/value.hpp"

namespace softalign {

// What is wrong with a value, without its position: the caller adds it.
class ScalarFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Each throws ScalarFault "expected an integer >= 1, got '256x'".
bool to_bool(const Value& value);
Index to_integer(const Value& value, const Limits& limits = {});
// The program computes in floats: what is infinite, 0 or out of its limits as a float is refused
// even where a double would hold it.
double to_number(const Value& value, const Limits& limits = {});
std::string to_text(const Value& value, const Limits& limits = {});

// The shortest decimal that reads back as the same double, as Python writes it: 0.1, 1.0, 1e-05.
std::string number_text(double value);
// The same for a reader of YAML 1.1, to whom 1e-05 is a text: 1.0e-05.
std::string yaml_number(double value);
// A string as YAML: bare where nothing can misread it, else in double quotes.
std::string yaml_text(const std::string& text);
// ">= 1", "> 0", "in [0, 1)", "one of maxout, tanh"; empty when anything goes.
std::string limits_text(const Limits& limits);

std::string_view trimmed(std::string_view text);  // without blanks and line ends at both ends

// The whole path of a file that is relative to the folder of the file that names it.
std::string to_path(const Value& value, const Limits& limits);

}  // namespace softalign
