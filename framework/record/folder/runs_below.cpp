#include "framework/record/folder/runs_below.hpp"

#include <algorithm>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"

namespace softalign {
namespace {

// Returns the error of an ID prefix that several runs have. A study has its own runs, so one run may
// be in two folders.
SpecError ambiguous(const std::string& given, const std::vector<RunFolder>& found) {
  constexpr std::size_t kShown = 5;
  const auto id = [](const RunFolder& run) { return run.root.filename(); };
  std::string places;
  for (std::size_t i = 0; i < std::min(kShown, found.size()); ++i)
    places += (i > 0 ? ", " : "") + short_path(found[i].root);
  if (found.size() > kShown) places += fmt::format(" and {} more", found.size() - kShown);
  const bool same = std::all_of(found.begin(), found.end(), [&](const RunFolder& run) {
    return id(run) == id(found.front());
  });
  if (same)
    return SpecError("{}: {} folders have a run with this ID; give one of them: {}",
                     given,
                     found.size(),
                     places);
  return SpecError("{}: {} run IDs begin with this; give more of the ID, or a folder: {}",
                   given,
                   found.size(),
                   places);
}

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

// Compares paths part by part, as std::filesystem does, without splitting them each time.
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
    } catch (const DataError&) {  // not a valid file name
      return false;
    }
  };
  return there(run.identity()) || there(run.record()) || there(run.claim(1));
}

void demand_run_folder(const fs::path& listed) {
  names_in(listed);
  if (!is_run_folder(listed))
    throw MachineError("{}: could not be read; run the same command again", listed.string());
}

std::vector<RunFolder> runs_below(const fs::path& folder) {
  if (std::error_code unknown; !is_folder(folder))
    throw SpecError("{}: {}; records are in results/ unless --results names another folder",
                    folder.string(),
                    fs::exists(folder, unknown) ? "not a folder" : "no such folder");
  std::vector<RunFolder> runs;
  collect(folder, 0, runs);
  std::sort(runs.begin(), runs.end(), before);
  return runs;
}

fs::path find_run(const std::string& name, const fs::path& results) {
  if (name.empty())
    throw SpecError("which run? give its folder, its run.h5 or the beginning of its ID");
  const fs::path given = name;
  if (is_folder(given)) {
    if (is_run_folder(given)) return normal_path(given);
    const std::vector<RunFolder> below = runs_below(given);
    if (below.size() == 1) return normal_path(below.front().root);
    if (below.empty())
      throw SpecError("{}: neither the folder of a run nor a folder above one", given.string());
    throw SpecError("{}: contains {} runs; softalign ls {} lists them",
                    given.string(),
                    below.size(),
                    shell_file(given.string()));
  }
  std::error_code error;  // ignored: `given` need not be a valid file name
  if (fs::exists(given, error)) return given;
  std::vector<RunFolder> found;
  if (is_folder(results))
    for (const RunFolder& run : runs_below(results))
      if (run.root.filename().string().starts_with(name)) found.push_back(run);
  if (found.size() == 1) return found.front().root;
  if (found.empty())
    throw SpecError(
        "{}: neither a file, a folder nor the beginning of a run ID below {}; softalign ls lists "
        "the runs",
        name,
        results.string());
  throw ambiguous(name, found);
}

std::vector<std::vector<fs::path>> find_runs(const std::vector<std::string>& arguments,
                                             const fs::path& results) {
  std::vector<std::vector<fs::path>> all;
  std::set<fs::path> seen;
  for (const std::string& argument : arguments) {
    std::vector<fs::path> paths, found;
    if (is_folder(argument))
      for (const RunFolder& run : runs_below(argument)) paths.push_back(run.root);
    else
      paths.push_back(find_run(argument, results));
    for (const fs::path& path : paths) {
      std::error_code error;
      const fs::path canonical = fs::weakly_canonical(path, error);
      if (seen.insert(error ? whole_path(path) : canonical).second)
        found.push_back(normal_path(path));
    }
    all.push_back(std::move(found));
  }
  return all;
}

RunFolder find_run_folder(const std::string& name, const fs::path& results) {
  const fs::path found = find_run(name, results);
  if (fs::is_directory(found)) return {found};
  const fs::path folder = folder_of(found);
  if (!RunFolder{folder}.journals().empty()) return {folder};
  throw SpecError(
      "{}: a record without the folder of its run; this command needs the journals in it",
      found.string());
}

std::string short_path(const fs::path& path) {
  std::error_code error;
  const std::string relative = fs::relative(path, error).string();
  const bool longer = error || relative.empty() || relative.size() >= path.string().size();
  return printable(longer ? path.string() : relative, kWhole);
}

}  // namespace softalign
