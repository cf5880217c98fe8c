// What may stand in a record as text.
#pragma once

#include <string_view>

namespace softalign {

// Valid UTF-8 without a NUL: HDF5's strings end there.
bool is_text(std::string_view bytes);

}  // namespace softalign
