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
// What a run of this spec is called and, behind it, what older versions called it if that is
// something else: they hashed options that change no number. Throws DataError for files that cannot
// be read, unless those that are missing are left out.
enum class MissingFiles { are_refused, are_left_out };
std::vector<RunName> names_of(const Spec& spec, MissingFiles missing = MissingFiles::are_refused);
std::string identity_json(const Spec& spec);  // of the first
std::string run_id(const Spec& spec);

// The name under which a run has a folder below `results`, or will have one: `known`, if that is one
// of its names, else the first that has a folder, else the first.
struct RunPlace {
  RunName name;
  std::filesystem::path folder;
};
RunPlace place_of(const Spec& spec,
                  const std::filesystem::path& results,
                  const std::string& known = "");

}  // namespace softalign
