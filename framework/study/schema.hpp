// The JSON Schema of a sweep's file (sweep.hpp), with variants or parameters.
#pragma once

#include "framework/base/json.hpp"

namespace softalign {

JsonObject sweep_schema();

}  // namespace softalign
