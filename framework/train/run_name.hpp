// What a run is called: the identity of its spec and its data, and the folder that has its name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/train/spec.hpp"

namespace softalign {

struct RunName {
  std::string identity_json;  // canonical, data files by their bytes
  std::string run_id;
};
// Throws DataError for files that cannot be read, unless those that are missing are left out.
enum class MissingFiles { are_refused, are_left_out };
RunName run_name(const Spec& spec, MissingFiles missing = MissingFiles::are_refused);

struct RunPlace {
  RunName name;
  std::filesystem::path folder;  // below `results`
};
RunPlace place_of(const Spec& spec, const std::filesystem::path& results);

}  // namespace softalign
