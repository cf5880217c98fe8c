#include "framework/train/run_name.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <map>

#include "framework/base/path.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/read_vocabularies.hpp"
#include "framework/train/warm_start.hpp"

namespace softalign {

std::vector<RunName> names_of(const Spec& spec, MissingFiles missing) {
  std::vector<std::string> faults;                             // of all files together
  std::map<std::pair<std::string, bool>, std::string> hashes;  // by path and what of it counts
  const auto hash = [&](const InputFile& file) {
    std::string& known = hashes[{file.path, file.parameters_count}];
    if (std::error_code none; missing == MissingFiles::are_left_out && !fs::exists(file.path, none))
      return known;
    try {
      if (known.empty())
        known = file.parameters_count ? hash_of(file, parameters_sha256) : input_hash(file);
    } catch (const DataError& error) {
      faults.emplace_back(error.what());
    }
    return known;
  };
  std::vector<RunName> names;
  for (const Hashed which : {Hashed::now, Hashed::without_versions, Hashed::with_speed}) {
    std::string json = canonical_json(spec, hash, which);
    if (!faults.empty()) throw DataError("{}", fmt::join(faults, "\n"));
    if (std::ranges::count(names, json, &RunName::identity_json) == 0)
      names.push_back({json, run_id(identity(json))});
  }
  return names;
}

std::string identity_json(const Spec& spec) { return names_of(spec).front().identity_json; }

std::string run_id(const Spec& spec) { return names_of(spec).front().run_id; }

RunPlace place_of(const Spec& spec,
                  const std::filesystem::path& results,
                  const std::string& known) {
  std::vector<RunPlace> places;
  for (RunName& name : names_of(spec)) places.push_back({name, results / spec.name / name.run_id});
  for (const RunPlace& place : places)
    if (place.name.run_id == known) return place;
  for (const RunPlace& place : places)
    if (std::filesystem::exists(place.folder)) return place;
  return places.front();
}

}  // namespace softalign
