// Writes facts about the data to the record and reads them back: text files (lines, unknown symbols, Unicode
// forms), and images.
#pragma once

#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/record/recorder.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// Returns the line of each sentence, from 1; empty if the split is not read from a file.
std::vector<Index> lines_of(const Split& split);
// The lines of a record's test or dev sentences, and the number of lines in their file.
struct TextLines {
  std::vector<Index> numbers;
  Index count = 0;
};
TextLines text_lines(const Record& record, const std::string& split);

// Describes how many pairs of a split are kept, skipped (and why) or truncated; empty if all are kept whole.
std::string skipped_text(const Split& split);

// Returns notes for the user on the sentences: skipped lines, and notes on the files.
std::vector<std::string> data_notes(const Dataset& data);

// Records /data/files, with a row for each text file, and /data/dev/line.
void record_texts(Recorder& recorder, const Dataset& data);
// Reads /data/files, which has no examples of unknown symbols.
std::vector<TextFacts> texts_of(const Record& record);

// Records /images/test and /images/dev if sources are images: the images whose matrices are recorded, with
// the matrix column of each pixel.
void record_images(Recorder& recorder, const Spec& spec, const Dataset& data, const Model& model);

}  // namespace softalign
