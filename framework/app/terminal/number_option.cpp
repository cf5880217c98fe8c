#include "framework/app/terminal/number_option.hpp"

#include "framework/config/value.hpp"

namespace softalign::app {
namespace {

template <class Read>
CLI::Validator validator(const Limits& limits, const Read& read) {
  const auto fault = [limits, read](const std::string& text) -> std::string {
    try {
      read(Value::scalar(text, {}), limits);
      return "";
    } catch (const ScalarFault& error) {
      return error.what();
    }
  };
  return CLI::Validator(fault, limits_text(limits));
}

}  // namespace

CLI::Validator integer(const Limits& limits) { return validator(limits, to_integer); }

CLI::Validator number(const Limits& limits) { return validator(limits, to_number); }

}  // namespace softalign::app
