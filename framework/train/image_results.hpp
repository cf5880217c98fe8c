// Sources that are images, as arrays of the record: what alignments are drawn over.
#pragma once

#include "framework/data/dataset.hpp"
#include "framework/record/recorder.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// Where sources are images: /images/test and /images/dev, those whose matrices are kept, with the
// matrices' column for each pixel.
void record_images(Recorder& recorder, const Spec& spec, const Dataset& data, const Model& model);

}  // namespace softalign
