#include "framework/train/image_results.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/types.hpp"
#include "framework/data/task.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

// Grey levels, column by column, and the widths; `position` holds for the longest and so for all.
void record_images_of(Recorder& recorder,
                      const Split& split,
                      Index kept,
                      Index height,
                      Index levels,
                      const Model& model) {
  std::vector<std::int32_t> widths, position;
  Index pixels = 0;
  for (Index i = 0; i < kept; ++i)
    pixels = std::max(pixels, Index{split.examples.rows()[usize(i)].source});
  std::vector<std::uint8_t> grey(usize(kept * pixels));
  for (Index i = 0; i < kept; ++i) {
    const std::span<const float> frames = split.examples[usize(i)].frames;
    widths.push_back(static_cast<std::int32_t>(std::ssize(frames) / height));
    std::transform(frames.begin(), frames.end(), grey.begin() + i * pixels, [](float level) {
      return static_cast<std::uint8_t>(level);
    });
  }
  for (Index p = 0; p < pixels; ++p)
    position.push_back(static_cast<std::int32_t>(model.encoder().position_of(p)));
  const std::string group = "images/" + split.name;
  const Dimension sentence{"sentence", kept}, pixel{"pixel", pixels};
  const auto put =
      [&](const char* name, const std::vector<Dimension>& dims, Values values, const char* text) {
        recorder.array(group, name, dims, std::move(values), {{"long_name", text}});
      };
  put("pixels", {sentence, pixel}, grey, "grey levels, column by column; 0 behind the image");
  put("width", {sentence}, widths, "pixels of a row");
  put("position", {pixel}, position, "where a pixel stands in alignments: their src");
  recorder.attributes(group, {{"height", height}, {"levels", levels}});
}

}  // namespace

void record_images(Recorder& recorder, const Spec& spec, const Dataset& data, const Model& model) {
  const FrameFormat& frames = data.frames();
  if (frames.height <= 1 || frames.size != 1 || !model.aligns()) return;
  const auto levels = static_cast<Index>(frames.most) + 1;
  for (const auto& [split, kept] :
       {std::pair(&data.test, spec.record.alignments), std::pair(&data.dev, spec.record.snapshots)})
    if (kept > 0)
      record_images_of(recorder,
                       *split,
                       std::min(kept, std::ssize(split->examples)),
                       frames.height,
                       levels,
                       model);
}

}  // namespace softalign
