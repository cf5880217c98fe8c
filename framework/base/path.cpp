#include "framework/base/path.hpp"

#include <system_error>

namespace softalign {

fs::path normal_path(const fs::path& path) {
  std::error_code error;
  fs::path normal;
  for (const fs::path& part : path) {
    const fs::path last = normal.filename();
    if (part == ".")
      continue;
    else if (part == ".." && normal.has_filename() && last != ".." &&
             !fs::is_symlink(normal, error))
      normal = normal.parent_path();
    else if (part != ".." || normal != normal.root_path() || normal.empty())
      normal /= part;
  }
  return normal.empty() && !path.empty() ? "." : normal;
}

fs::path whole_path(const fs::path& path) { return normal_path(fs::absolute(path)); }

}  // namespace softalign
