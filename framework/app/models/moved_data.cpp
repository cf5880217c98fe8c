#include "framework/app/models/moved_data.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "framework/base/error.hpp"
#include "framework/base/path.hpp"
#include "framework/data/file_hash.hpp"

namespace softalign::app {
namespace {

constexpr std::string_view kDigest = "sha256:";
constexpr std::size_t kLongest = 4096;  // bytes of a path; the system opens none that is longer

bool holds(const fs::path& file, const std::string& digest) {
  std::error_code none;
  try {
    return fs::is_regular_file(file, none) &&
           remembered_hash({file.string()}) == digest.substr(kDigest.size());
  } catch (const Error&) {
    return false;  // it cannot be read
  }
}

// The nearest folder first, and there the longest end of the old path.
std::optional<fs::path> new_place(const fs::path& record,
                                  const fs::path& old,
                                  const std::string& digest) {
  for (fs::path above = whole_path(record).parent_path();; above = above.parent_path()) {
    fs::path end = old.relative_path();
    while (!end.empty()) {
      if (fs::path file = above / end; holds(file, digest)) return file;
      fs::path shorter;
      for (auto part = std::next(end.begin()); part != end.end(); ++part) shorter /= *part;
      end = std::move(shorter);
    }
    if (above == above.parent_path()) return std::nullopt;
  }
}

// `identity`: what stands there in the run's identity, the digest of a file for its path.
void find_below(const fs::path& record, Value& value, const nlohmann::json& identity) {
  for (Value::Entry& entry : value.entries)
    if (identity.is_object() && identity.contains(entry.key))
      find_below(record, entry.value, identity[entry.key]);
  if (!value.is_scalar() || !identity.is_string()) return;
  const auto digest = identity.get<std::string>();
  if (!digest.starts_with(kDigest) || value.text.size() > kLongest || holds(value.text, digest))
    return;
  if (const auto place = new_place(record, value.text, digest)) value.text = place->string();
}

}  // namespace

void find_moved_data(const Record& record, Value& spec) {
  find_below(record.file(), spec, nlohmann::json::parse(record.identity_json(), nullptr, false));
}

}  // namespace softalign::app
