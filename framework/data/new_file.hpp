// A file that is made beside its place and put there whole: under a lock, so that of several
// processes one makes it; synced, so that a crash leaves no half. What a killed process left is
// taken over by the next.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace softalign {

// The system refused: "cannot write to /x/y: No space left on device". To be caught: what lies in a
// cache can be done without.
class FileFault : public std::runtime_error {
 public:
  explicit FileFault(const std::string& what);  // with the reason of errno
  FileFault(const std::string& what, const std::string& reason)
      : std::runtime_error("cannot " + what + ": " + reason) {}
};

class NewFile {
 public:
  // Null while another process makes the same file. Makes the folder if need be. Throws FileFault,
  // as the others do.
  static std::unique_ptr<NewFile> begin(const std::filesystem::path& place);
  ~NewFile();  // removes it unless it was put in place
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);  // at the end
  void sync();
  void put_in_place();  // replaces what is there, unless it is a folder with something in it

  int descriptor() const { return file_; }  // for reading it

 private:
  NewFile(std::filesystem::path place, int file) : place_(std::move(place)), file_(file) {}

  std::filesystem::path place_;
  int file_;
  bool in_place_ = false;
};

// The path of a file that is being made.
std::filesystem::path beside(const std::filesystem::path& place);

}  // namespace softalign
