#include "framework/record/folder/tidy.hpp"

#include "framework/base/error.hpp"
#include "framework/base/path.hpp"
#include "framework/record/journal/checkpoint.hpp"

namespace softalign {

void check_place(const fs::path& path, fs::file_type wanted) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == wanted || type == fs::file_type::not_found) return;
  const std::string shown = printable(path.string(), kWhole);
  if (type == fs::file_type::none) throw_unreadable(path, error.value());
  if (type == fs::file_type::symlink)
    throw DataError(
        "{}: is a link, and nothing is written through links in the folder of a run or a sweep; "
        "put "
        "what it points to in its place, or move it away, and run the same command again",
        shown);
  throw DataError("{}: is {}, where a {} belongs; move it away and run the same command again",
                  shown,
                  type == fs::file_type::directory ? "a folder"
                  : type == fs::file_type::regular ? "a file"
                                                   : "a pipe or a device",
                  wanted == fs::file_type::directory ? "folder" : "file");
}

void check_replaceable(const fs::path& file, const std::function<bool(const fs::path&)>& ours) {
  check_place(file, fs::file_type::regular);
  if (is_there(file) && !ours(file))
    throw DataError("{}: was not made by softalign, or is damaged; move it away",
                    printable(file.string(), kWhole));
}

void check_places(const RunFolder& run) {
  for (const fs::path& file : {run.spec(), run.identity(), run.status(), run.record()})
    check_place(file, fs::file_type::regular);
  for (const Index attempt : run.journals())
    check_place(run.journal(attempt), fs::file_type::regular);
  for (const Index n : run.attempt_folders()) {
    check_place(run.attempt(n), fs::file_type::directory);
    for (const fs::path& file : {run.claim(n), run.released(n), run.environment(n), run.diff(n)})
      check_place(file, fs::file_type::regular);
  }
  check_place(run.checkpoints(), fs::file_type::directory);
  for (const std::string& name : names_in(run.checkpoints()))
    if (is_checkpoint(name)) check_place(run.checkpoints() / name, fs::file_type::regular);
}

void remove_temporaries(FileSystem& files, const RunFolder& run, bool claimed) {
  std::vector<fs::path> folders = {run.checkpoints()};
  for (const Index attempt : run.attempt_folders()) folders.push_back(run.attempt(attempt));
  std::error_code error;
  std::erase_if(folders, [&](const fs::path& folder) { return fs::is_symlink(folder, error); });
  folders.push_back(run.root);
  for (const fs::path& folder : folders) {
    for (const std::string& name : names_in(folder)) {
      const Temporary whose = temporary(name);
      if ((whose == Temporary::abandoned || (claimed && whose != Temporary::none)) &&
          fs::symlink_status(folder / name, error).type() == fs::file_type::regular)
        files.remove(folder / name);
    }
  }
}

}  // namespace softalign
