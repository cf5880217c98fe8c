#include "framework/data/cache_folder.hpp"
#include "framework/base/path.hpp"

#include <cstdlib>

namespace softalign {

std::optional<std::filesystem::path> cache_folder() {
  if (const char* own = std::getenv("SOFTALIGN_CACHE")) {
    if (*own == '\0') return std::nullopt;
    return fs::absolute(own);
  }
  const char* caches = std::getenv("XDG_CACHE_HOME");
  if (caches && *caches == '/') return fs::path(caches) / "softalign";  // the rest is not valid
  const char* home = std::getenv("HOME");
  if (home && *home == '/') return fs::path(home) / ".cache/softalign";
  return std::nullopt;
}

}  // namespace softalign
