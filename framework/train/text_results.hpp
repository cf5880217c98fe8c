// Facts of sources, in the record and back: the files that sentences are read from (lines, unknown symbols, how
// they are written), and images.
#pragma once

#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/record/recorder.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// The line of each sentence, from 1; empty: the split is read from no file.
std::vector<Index> lines_of(const Split& split);
// The lines of a record's test or dev sentences, and how many lines their file has.
struct TextLines {
  std::vector<Index> numbers;
  Index count = 0;
};
TextLines text_lines(const Record& record, const std::string& split);

// Describes how many lines of a split are kept, and why others are not; empty if all are.
std::string skipped_text(const Split& split);

// Notes for people on the sentences: lines that were skipped, notes on the files.
std::vector<std::string> data_notes(const Dataset& data);

// /data/files, a row for each file of a text; /data/dev/line.
void record_texts(Recorder& recorder, const Dataset& data);
// Without examples of unknown symbols.
std::vector<TextFacts> texts_of(const Record& record);

// Records /images/test and /images/dev if sources are images: the images whose matrices are recorded, with
// the matrix column of each pixel.
void record_images(Recorder& recorder, const Spec& spec, const Dataset& data, const Model& model);

}  // namespace softalign
