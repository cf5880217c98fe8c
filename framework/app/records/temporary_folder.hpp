// A folder below the system's one for temporary files, for the record that verify makes.
#pragma once

#include <filesystem>

#include "framework/base/files.hpp"

namespace softalign::app {

// Removed at the end, with those that processes of this machine were killed over. One that is kept
// bears no process's mark. Throws MachineError where none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(bool keep);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool keep_;
};

}  // namespace softalign::app
