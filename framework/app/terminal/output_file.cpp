#include "framework/app/terminal/output_file.hpp"

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/record/file.hpp"

namespace softalign::app {

void OutputFile::add_to(CLI::App& command, const char* option, const char* help) {
  command.add_option(option, path, help)->check([](const std::string& name) {
    return name.empty() ? "an empty name names no file" : "";
  });
  command.add_flag("--force", force, "replace any file that is there");
}

void OutputFile::check(bool (*ours)(const fs::path&)) const {
  if (path.empty()) return;
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw SpecError("{}: no such folder; make it first", folder.string());
  const fs::file_status there = fs::symlink_status(path, error);
  if (!fs::exists(there)) return;
  if (fs::is_symlink(there))
    throw SpecError(
        "{}: is a symbolic link, and no file is written through one; name its file, or remove the "
        "link",
        path);
  if (!fs::is_regular_file(there))
    throw SpecError("{}: is {}; choose another name",
                    path,
                    fs::is_directory(there) ? "a folder" : "no regular file");
  if (!force && !(ours && ours(path)))
    throw SpecError("{}: exists already{}; --force replaces it, or choose another name",
                    path,
                    ours ? " and was not made by this command" : "");
}

void OutputFile::write(std::string_view text) const {
  if (force)
    FileSystem::real().write_atomically(path, text);
  else if (!FileSystem::real().create_once(path, text))
    check();
}

}  // namespace softalign::app
