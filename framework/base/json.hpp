// Numbers in JSON that others may have written.
#pragma once

#include "framework/base/types.hpp"

namespace softalign {

// A whole number. JSON's own exception for anything else: what it makes of a real number that no
// integer can hold is undefined.
template <class Json>
Index whole_number(const Json& json) {
  return json.template get_ref<const typename Json::number_integer_t&>();
}

}  // namespace softalign
