// The files of what translations must contain, a line for each line of the input: how they begin, and phrases.
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
  // Throws SpecError for demands that the search cannot meet, and DataError for the files. input: the name of the text.
  DemandFiles(const DemandOptions& options,
              const Translator& translator,
              const Vocabulary& target,
              std::string input);

  // For the next lines of the input. Throws DataError where there are fewer.
  LineDemands next(std::size_t lines);
  // Throws DataError where there are more lines than the input has.
  void finish();

 private:
  std::vector<std::string> read(TextFile& file, std::size_t lines) const;

  const Vocabulary& target_;
  std::string input_;
  std::optional<TextFile> prefixes_, phrases_;
};

}  // namespace softalign::app
