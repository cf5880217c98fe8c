#include "framework/app/models/demand_files.hpp"

#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"

namespace softalign::app {

void DemandOptions::add_to(CLI::App& command) {
  command.add_option("--prefixes",
                     prefixes,
                     "file with the beginning of each translation, one per line; may be empty");
  command.add_option("--constraints",
                     constraints,
                     "file with the phrases that each translation must contain, one line per "
                     "sentence, separated by tabs; for search=beam (Post and Vilar 2018)");
}

DemandFiles::DemandFiles(const DemandOptions& options,
                         const Translator& translator,
                         const Vocabulary& target,
                         std::string input)
    : target_(target), input_(std::move(input)) {
  if (!options.prefixes.empty()) {
    translator.require(Demand::prefix, "--prefixes");
    prefixes_.emplace(options.prefixes, TextFile::Read::once);
  }
  if (options.constraints.empty()) return;
  translator.require(Demand::phrases, "--constraints");
  phrases_.emplace(options.constraints, TextFile::Read::once);
}

LineDemands DemandFiles::next(std::size_t lines) {
  LineDemands demands;
  if (prefixes_) demands.prefixes = read(*prefixes_, lines);
  if (phrases_) {
    demands.phrases = read(*phrases_, lines);
    demands.phrases_file = phrases_->path();
  }
  return demands;
}

void DemandFiles::finish() {
  std::string line;
  for (std::optional<TextFile>* file : {&prefixes_, &phrases_})
    if (*file && (*file)->next(line))
      throw DataError("{}: has more lines than {}, {}; give one line per sentence",
                      (*file)->path(),
                      input_,
                      (*file)->line_number() - 1);
}

std::vector<std::string> DemandFiles::read(TextFile& file, std::size_t lines) const {
  std::vector<std::string> read(lines);
  for (std::string& line : read) {
    if (!file.next(line))
      throw DataError(
          "{}: ends after {}, {} is longer; give one line per sentence, which may be empty",
          file.path(),
          counted(file.line_number(), "line"),
          input_);
    if (target_.marks_spaces()) check_space_marks(line, file.path(), file.line_number());
  }
  return read;
}

}  // namespace softalign::app
