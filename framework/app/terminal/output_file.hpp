// A file that a command writes where its user says. One law for all of them, that of
// scripts/output.py: what softalign made is replaced, anything else needs --force; a symbolic link,
// a folder or a device never is.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>

namespace softalign::app {

struct OutputFile {
  std::string path;  // empty: none is wanted
  bool force = false;

  // The option and --force.
  void add_to(CLI::App& command, const char* option, const char* help);

  // Before the work. Throws SpecError where the law forbids to write, or its folder is not there.
  // `ours`: whether softalign made the file that is there; by default nobody knows.
  void check(bool (*ours)(const std::filesystem::path&) = nullptr) const;

  // A text, in one step. Somebody may have made the file since `check`: that is refused as there.
  void write(std::string_view text) const;
};

}  // namespace softalign::app
