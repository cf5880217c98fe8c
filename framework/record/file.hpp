// Durable files, and their paths in a run's folder: exclusive creation, complete writes, syncs and atomic
// replacement. Every failure is a MachineError naming the file and the system's reason. Nothing is written
// through links: a file is created, replaces an existing one, or is opened as a regular file. For reading see
// base/files.hpp.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/files.hpp"
#include "framework/base/types.hpp"

namespace softalign {

class File;

// The system calls, checked. The virtual functions have POSIX meaning (-1 and errno), so that a
// test can make the n-th call fail; interrupted calls and short writes are handled above them.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  static FileSystem& real();

  // Replaces or creates `path`: temporary file, `write`, fsync, `check(temporary)`, rename, fsync of
  // the folder. On failure `path` is unchanged.
  using Check = std::function<void(const std::filesystem::path&)>;
  void write_atomically(const std::filesystem::path& path,
                        const std::function<void(File&)>& write,
                        const Check& check = {});
  void write_atomically(const std::filesystem::path& path,
                        std::string_view bytes,
                        const Check& check = {});
  // Creates `path` with its content in one step. Returns false if it exists already.
  bool create_once(const std::filesystem::path& path, std::string_view bytes);
  void truncate(const std::filesystem::path& path, std::uint64_t size);  // with fsync
  void remove(const std::filesystem::path& path);                        // no error if absent
  // Creates a folder and its parents; new folders are on disk when this returns, at every level.
  void make_folders(const std::filesystem::path& path);
  void sync_folder(const std::filesystem::path& path);

  virtual int open(const char* path, int flags);
  virtual int mkdir(const char* path);
  virtual ssize_t write(int file, const char* bytes, std::size_t size);
  virtual int fdatasync(int file);
  virtual int fsync(int file);
  virtual int ftruncate(int file, off_t size);
  virtual int close(int file);
  virtual int rename(const char* from, const char* to);
  virtual int link(const char* from, const char* to);
  virtual int unlink(const char* path);
};

// A new file that only grows. Creating one that exists is an error.
class File {
 public:
  File(FileSystem& system, const std::filesystem::path& path);
  // A temporary file, whose errors name the file that it will become.
  File(FileSystem& system, const std::filesystem::path& path, const std::filesystem::path& becomes);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Writes completely, or throws and truncates to the previous content; if that fails, the file
  // accepts no more writes.
  void append(std::string_view bytes);
  void sync();  // after a failed sync the file accepts no more writes
  std::uint64_t size() const { return size_; }

 private:
  [[noreturn]] void fail(const char* what);

  FileSystem& system_;
  std::filesystem::path path_;
  int file_;
  std::uint64_t size_ = 0;
  bool broken_ = false;
};

// The process that writes a temporary file of write_atomically or create_once. The file's name has the process and
// its machine (boot and process namespace).
enum class Temporary {
  none,       // the name is not of this form
  unknown,    // of another machine or container, whose processes are not visible
  alive,      // its process is alive, or another one that now has its number
  abandoned,  // its process is dead
};
Temporary temporary(const std::filesystem::path& path);

// Names of temporary folders have the mark "SPACE-PID" of their process. process_mark: that of this process; marked:
// the state of the process with a given mark.
std::string process_mark();
Temporary marked(const std::string& mark);

// The paths in a run's folder; no file is read or written here. Throws the errors of throw_unreadable
// if the folder cannot be read.
//
//   results/<name>/<run id>/spec.yaml, identity.json, status.json
//                           attempt-001/CLAIM, RELEASED, environment.json, source.diff
//                           journal-001.jrnl
//                           ckpt/upd-00000500-<hash>.ckpt
//                           run.h5
struct RunFolder {
  std::filesystem::path root;

  std::filesystem::path spec() const { return root / "spec.yaml"; }
  std::filesystem::path identity() const { return root / "identity.json"; }
  std::filesystem::path status() const { return root / "status.json"; }
  std::filesystem::path record() const { return root / "run.h5"; }
  std::filesystem::path tags() const { return root / "tags.json"; }  // changed after the run began
  std::filesystem::path checkpoints() const { return root / "ckpt"; }
  std::filesystem::path attempt(Index number) const;
  std::filesystem::path journal(Index attempt) const;
  std::filesystem::path claim(Index number) const { return attempt(number) / "CLAIM"; }
  std::filesystem::path released(Index number) const { return attempt(number) / "RELEASED"; }
  std::filesystem::path environment(Index number) const {
    return attempt(number) / "environment.json";
  }
  std::filesystem::path diff(Index number) const { return attempt(number) / "source.diff"; }

  std::vector<Index> attempts() const;         // claimed attempts, ascending
  std::vector<Index> attempt_folders() const;  // also unclaimed ones
  std::vector<Index> journals() const;         // attempts that have a journal, ascending
};

// Returns the names in a folder, unordered; empty if there is no folder. Throws the errors of throw_unreadable.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// Returns the folder of a file, such as a record.
std::filesystem::path folder_of(const std::filesystem::path& record);

// Returns the remedy for an unreadable record, as the end of a message.
std::string remedy_for(const std::filesystem::path& record);

}  // namespace softalign
