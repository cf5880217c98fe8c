// Where things lie in a run's folder. Names only: no file is read or written here. Throws as throw_unreadable
// where the folder cannot be looked into.
//
//   results/<name>/<run id>/spec.yaml, identity.json, status.json
//                           attempt-001/CLAIM, RELEASED, environment.json, source.diff
//                           journal-001.jrnl
//                           ckpt/upd-00000500-<hash>.ckpt
//                           run.h5
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

struct RunFolder {
  std::filesystem::path root;

  std::filesystem::path spec() const { return root / "spec.yaml"; }
  std::filesystem::path identity() const { return root / "identity.json"; }
  std::filesystem::path status() const { return root / "status.json"; }
  std::filesystem::path record() const { return root / "run.h5"; }
  std::filesystem::path checkpoints() const { return root / "ckpt"; }
  std::filesystem::path attempt(Index number) const;
  std::filesystem::path journal(Index attempt) const;
  std::filesystem::path claim(Index number) const { return attempt(number) / "CLAIM"; }
  std::filesystem::path released(Index number) const { return attempt(number) / "RELEASED"; }
  std::filesystem::path environment(Index number) const {
    return attempt(number) / "environment.json";
  }
  std::filesystem::path diff(Index number) const { return attempt(number) / "source.diff"; }

  std::vector<Index> attempts() const;         // those that were claimed, ascending
  std::vector<Index> attempt_folders() const;  // also those that were not, or not yet
  std::vector<Index> journals() const;         // attempts that have a journal, ascending
};

// What is in a folder, in no order; nothing where there is none. Throws as throw_unreadable.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// The folder that a file, such as a record, lies in.
std::filesystem::path folder_of(const std::filesystem::path& record);

// What to do about a record that cannot be read, as the end of a message.
std::string remedy_for(const std::filesystem::path& record);

}  // namespace softalign
