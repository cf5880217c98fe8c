// A copy of a record to hand on: it verifies as the record does, and does not tell whose machine made it.
#pragma once

#include <string>
#include <vector>

#include "framework/record/published/open_record.hpp"

namespace softalign {

struct PublicCopy {
  std::string image;                  // the bytes of the file
  std::vector<std::string> left_out;  // "host", "2 events"
};

// `spec_yaml` stands in place of the record's. All outside /provenance is the same. There, texts stay that say how
// the numbers were made, unless they have a host's name or an absolute path in them.
PublicCopy public_copy(const Record& record, const std::string& spec_yaml);

// Whether the record is such a copy.
bool is_public_copy(const Record& record);

}  // namespace softalign
