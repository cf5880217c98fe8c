#include "framework/app/records/records.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/process.hpp"
#include "framework/record/file.hpp"

namespace softalign::app {
namespace {

constexpr std::string_view kPrefix = "softalign-verify-", kRandom = "-XXXXXX";

// Returns the system's folder for temporary files.
fs::path temporary_place() {
  const std::string given = environment_variable("TMPDIR");
  const fs::path place = given.empty() ? "/tmp" : given;
  std::error_code error;
  if (!fs::is_directory(place, error))
    throw MachineError("{}: {}; set TMPDIR to a writable folder",
                       place.string(),
                       error ? error.message() : "is no folder");
  return place;
}

// Removes our own folders of processes of this machine that were killed.
void remove_abandoned(const fs::path& place) {
  std::vector<std::string> names;
  try {
    names = names_in(place);
  } catch (const Error&) {  // the folder may be writable, but not listable
  }
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix) || name.size() < kPrefix.size() + kRandom.size()) continue;
    const std::size_t size = name.size() - kPrefix.size() - kRandom.size();
    struct stat about = {};
    std::error_code ignored;
    if (marked(name.substr(kPrefix.size(), size)) == Temporary::abandoned &&
        lstat((place / name).c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
        about.st_uid == geteuid())
      fs::remove_all(place / name, ignored);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(bool keep) : keep_(keep) {
  const fs::path place = temporary_place();
  remove_abandoned(place);
  const std::string mark = keep ? "kept" : process_mark();
  std::string path = (place / fmt::format("{}{}{}", kPrefix, mark, kRandom)).string();
  if (mkdtemp(path.data()) == nullptr)
    throw MachineError("{}: cannot create a folder here; set TMPDIR to a writable folder",
                       place.string());
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  try {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
  } catch (const std::bad_alloc&) {  // the next command that makes such a folder removes this one
  }
}

}  // namespace softalign::app
