#include "framework/train/text_results.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "framework/base/types.hpp"
#include "framework/data/task.hpp"

namespace softalign {
namespace {

constexpr const char* kFiles = "data/files";
constexpr Index kMostLines = Index{1} << 28;  // limit for a record; more would fill disks

struct Column {
  const char* name;
  Index TextFacts::*number;
  const char* long_name;
};
constexpr Column kColumns[] = {
    {"symbols", &TextFacts::symbols, "symbols in running text"},
    {"unknown", &TextFacts::unknown, "symbols that the vocabulary does not have"},
    {"types", &TextFacts::types, "different symbols"},
    {"unknown_types",
     &TextFacts::unknown_types,
     "different symbols that the vocabulary does not have"},
    {"in_lower_case", &TextFacts::in_lower_case, "unknown symbols that are known in lower case"},
    {"with_points", &TextFacts::with_points, "unknown symbols that are known without punctuation"},
    {"composed", &TextFacts::composed, "lines with characters in Unicode form NFC"},
    {"decomposed", &TextFacts::decomposed, "lines with characters in Unicode form NFD"},
    {"marks", &TextFacts::marks, "lines with a byte order mark inside the text"},
    {"first_decomposed", &TextFacts::first_decomposed, "the first such line, from 1; 0: none"},
    {"first_mark", &TextFacts::first_mark, "the first such line, from 1; 0: none"},
};

template <class T>
std::vector<T> column_of(const Record& record, const std::string& group, const std::string& name) {
  const Values values = record.array(group, name).values;
  const auto* column = std::get_if<std::vector<T>>(&values);
  if (!column) throw damaged_value(record.file(), fmt::format("{}/{}", group, name));
  return *column;
}

// Returns the first lines of a split's only file that are not in the split.
std::vector<Index> first_skipped(const Split& split, std::size_t most) {
  std::vector<Index> skipped;
  Index next = 1;
  for (const ExampleRow& row : split.examples.rows())
    for (const Index line = row.line; next <= line; ++next)
      if (next < line && skipped.size() < most) skipped.push_back(next);
  for (; next <= split.counts.read && skipped.size() < most; ++next) skipped.push_back(next);
  return skipped;
}

std::vector<TextFacts> texts_of(const Dataset& data) {
  std::vector<TextFacts> texts;
  for (const Split* split : {&data.train, &data.dev, &data.test})
    texts.insert(texts.end(), split->texts.begin(), split->texts.end());
  return texts;
}

}  // namespace

std::vector<Index> lines_of(const Split& split) {
  std::vector<Index> lines;
  for (const ExampleRow& row : split.examples.rows()) lines.push_back(row.line);
  if (std::ranges::all_of(lines, [](Index line) { return line == 0; })) lines.clear();
  return lines;
}

TextLines text_lines(const Record& record, const std::string& split) {
  TextLines lines;
  const std::string group = split == "dev" ? "data/dev" : split;
  if (!record.has(group + "/line")) return lines;
  lines.numbers = column_of<Index>(record, group, "line");
  lines.count = record.attribute<Index>("data/" + split, "read").value_or(0);
  Index before = 0;
  for (const Index line : lines.numbers)
    if (line <= std::exchange(before, line))
      throw damaged_value(record.file(), fmt::format("{}/{}", group, "line"));
  if (before > lines.count || lines.count > kMostLines)
    throw damaged_value(record.file(), fmt::format("{}/{}", group, "line"));
  return lines;
}

std::string skipped_text(const Split& split) {
  const SplitCounts& c = split.counts;
  if (c.dropped_too_long + c.dropped_empty + c.truncated == 0) return "";
  std::string text = fmt::format("{}: {} of {} pairs kept, {} too long, {} empty, {} truncated",
                                 split.name,
                                 c.kept,
                                 c.read,
                                 c.dropped_too_long,
                                 c.dropped_empty,
                                 c.truncated);
  if (split.portions.empty() && c.kept < c.read) {
    constexpr std::size_t kMost = 10;
    const std::vector<Index> skipped = first_skipped(split, kMost);
    text += fmt::format("; skipped lines: {}{}",
                        fmt::join(skipped, ", "),
                        c.read - c.kept > std::ssize(skipped) ? ", ..." : "");
  }
  return text;
}

std::vector<std::string> data_notes(const Dataset& data) {
  std::vector<std::string> notes;
  for (const Split* split : {&data.train, &data.dev, &data.test})
    if (std::string skipped = skipped_text(*split); !skipped.empty())
      notes.push_back(std::move(skipped));
  const std::vector<TextFacts> texts = texts_of(data);
  for (const std::string& note : notes_of(texts, texts)) notes.push_back("note: " + note);
  return notes;
}

void record_texts(Recorder& recorder, const Dataset& data) {
  if (const std::vector<Index> lines = lines_of(data.dev); !lines.empty())
    recorder.array("data/dev",
                   "line",
                   {{"sentence", std::ssize(lines)}},
                   lines,
                   {{"long_name", "line of the file, from 1"}});
  const std::vector<TextFacts> texts = texts_of(data);
  if (texts.empty()) return;
  const std::vector<Dimension> files = {{"file", std::ssize(texts)}};
  std::vector<std::string> options;
  for (const TextFacts& text : texts) options.push_back(text.option);
  recorder.array(
      kFiles, "option", files, options, {{"long_name", "the option that names the file"}});
  for (const Column& column : kColumns) {
    std::vector<Index> numbers;
    for (const TextFacts& text : texts) numbers.push_back(text.*column.number);
    recorder.array(kFiles, column.name, files, numbers, {{"long_name", column.long_name}});
  }
}

std::vector<TextFacts> texts_of(const Record& record) {
  std::vector<TextFacts> texts;
  if (!record.has(kFiles)) return texts;
  for (std::string& option : column_of<std::string>(record, kFiles, "option"))
    texts.push_back({std::move(option)});
  for (const Column& column : kColumns) {
    const std::vector<Index> numbers = column_of<Index>(record, kFiles, column.name);
    if (numbers.size() != texts.size())
      throw damaged_value(record.file(), fmt::format("{}/{}", kFiles, column.name));
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i].*column.number = numbers[i];
  }
  return texts;
}

namespace {

using Json = nlohmann::json;

// Records grey levels, column by column, and widths. `position` has the pixels of the widest image.
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
