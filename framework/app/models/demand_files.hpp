// The files of prefixes and phrases that translations must contain, with a line for each line of the input.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "framework/data/text_file.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/inference/translator.hpp"

namespace softalign::app {

struct DemandOptions {
  std::string prefixes, constraints;  // paths; empty: none

  void add_to(CLI::App& command);
};

class DemandFiles {
 public:
  // Throws SpecError for demands that the search cannot meet, and as TextFile. input: the name of the text in errors.
  DemandFiles(const DemandOptions& options,
              const Translator& translator,
              const Vocabulary& target,
              std::string input);

  // Reads the demands of the next lines of the input. Throws DataError if a file has fewer lines.
  LineDemands next(std::size_t lines);
  // Throws DataError if a file has more lines than the input.
  void finish();

 private:
  std::vector<std::string> read(TextFile& file, std::size_t lines) const;

  const Vocabulary& target_;
  std::string input_;
  std::optional<TextFile> prefixes_, phrases_;
};

}  // namespace softalign::app
