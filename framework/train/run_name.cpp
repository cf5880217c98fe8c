#include "framework/train/run_name.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <map>

#include "framework/base/files.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/read_vocabularies.hpp"
#include "framework/train/warm_start.hpp"

namespace softalign {

RunName run_name(const Spec& spec, MissingFiles missing) {
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
  const std::string json = canonical_json(spec, hash);
  if (!faults.empty()) throw DataError("{}", fmt::join(faults, "\n"));
  return {json, run_id(identity(json))};
}

RunPlace place_of(const Spec& spec, const std::filesystem::path& results) {
  RunName name = run_name(spec);
  std::filesystem::path folder = results / spec.name / name.run_id;
  return {std::move(name), std::move(folder)};
}

}  // namespace softalign
