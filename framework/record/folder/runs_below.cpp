#include "framework/record/folder/runs_below.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/path.hpp"
#include "framework/base/regular_file.hpp"

namespace softalign {
namespace {

// A folder that cannot be opened counts as a run; reading it reports why.
void collect(const fs::path& path, int depth, std::vector<RunFolder>& runs) {
  constexpr int kDeepest = 6;  // results/<study>/<name>/<run id> and some more
  try {
    if (!is_folder(path)) return;
    if (is_run_folder(path)) return runs.push_back({path});
    if (depth == kDeepest || (depth > 0 && fs::is_symlink(path))) return;
    for (const std::string& name : names_in(path))
      if (name[0] != '.') collect(path / name, depth + 1, runs);
  } catch (const MachineError&) {
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) runs.push_back({path});
  }
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
  const auto there = [](const fs::path& file) {
    try {
      return is_there(file);
    } catch (const DataError&) {  // a name that no file can have
      return false;
    }
  };
  return there(run.identity()) || there(run.record()) || there(run.claim(1));
}

void demand_run_folder(const fs::path& listed) {
  names_in(listed);
  if (!is_run_folder(listed))
    throw MachineError("{}: could not be looked into; give the same command again",
                       listed.string());
}

std::vector<RunFolder> runs_below(const fs::path& folder) {
  if (std::error_code unknown; !is_folder(folder))
    throw SpecError("{}: {}; records land in results/ unless --out says otherwise",
                    folder.string(),
                    fs::exists(folder, unknown) ? "not a folder" : "no such folder");
  std::vector<RunFolder> runs;
  collect(folder, 0, runs);
  std::sort(runs.begin(), runs.end(), before);
  return runs;
}

}  // namespace softalign
