#include "framework/record/folder/runs_below.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/path.hpp"

namespace softalign {
namespace {

void collect(const fs::path& folder, int depth, std::vector<RunFolder>& runs) {
  constexpr int kDeepest = 6;  // results/<study>/<name>/<run id> and some more
  std::error_code error;       // a folder that may not be read holds no run of ours
  std::vector<fs::path> below;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code none;
    if (!entry.is_directory(none) || entry.path().filename().native()[0] == '.') continue;
    if (is_run_folder(entry.path()))
      runs.push_back({entry.path()});
    else if (depth < kDeepest && !entry.is_symlink(none))
      below.push_back(entry.path());
  }
  if (error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system)
    throw MachineError("{}: cannot be read: {}", folder.string(), error.message());
  for (const fs::path& path : below) collect(path, depth + 1, runs);
}

// As paths compare, part by part, and not taken apart each time.
bool before(const RunFolder& a, const RunFolder& b) {
  const auto place = [](char c) { return c == '/' ? -1 : static_cast<unsigned char>(c); };
  const std::string &x = a.root.native(), &y = b.root.native();
  return std::lexicographical_compare(
      x.begin(), x.end(), y.begin(), y.end(), [&](char c, char d) { return place(c) < place(d); });
}

}  // namespace

bool is_run_folder(const fs::path& path) {
  const RunFolder run{path};
  std::error_code error;
  return fs::exists(run.identity(), error) || fs::exists(run.record(), error) ||
         fs::exists(run.claim(1), error);
}

std::vector<RunFolder> runs_below(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw SpecError("{}: no such folder; records land in results/ unless --out says otherwise",
                    folder.string());
  std::vector<RunFolder> runs;
  if (is_run_folder(folder))
    runs.push_back({folder});
  else
    collect(folder, 1, runs);
  std::sort(runs.begin(), runs.end(), before);
  return runs;
}

}  // namespace softalign
