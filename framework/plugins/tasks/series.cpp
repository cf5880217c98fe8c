// Task series: a column of a text file, such as CSV, whose rows are equally far apart in time. A source is the
// `history` values before a moment, as frames of one number; the target is the `horizon` values from that moment on.
//
// Splits are consecutive in time: the last values are for test, those before them for dev, the rest for training. All
// target values of a window lie in its split; its history may reach into the previous split. Training windows begin
// `stride` values apart, those of dev and test `stride_test`, by default the horizon, to forecast each value once.
//
// Target symbols are `bins` numbers, the centres of equally wide bins over the range of the training values, widened
// by `margin` of it at each side; they are rounded to the fewest decimals that move no centre by more than a hundredth
// of a bin. A value gets the nearest symbol; values beyond the outermost bins are counted and get those. Output layer
// gaussian makes the loss the likelihood of the binned values. Sources are normalised by the mean and standard
// deviation of the training values. The record has the symbols and both numbers, so that `evaluate`, `translate` and
// `score` treat new values in the same way. A forecast has exactly `horizon` values unless its search sets min_ratio.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/task.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {
namespace {

struct SeriesOptions {
  InputFile file;
  std::string column = "1";
  Index history = 0;
  Index horizon = 0;
  Index stride = 1;
  std::optional<Index> stride_test;
  Index dev = 0;
  Index test = 0;
  Index bins = 256;
  double margin = 0.1;

  template <class V>
  void describe(V& v) {
    const auto given = [](Index most) {
      Limits limits = between(1, most);
      limits.required = true;
      return limits;
    };
    v("file",
      file,
      "text, plain or gzip, a line for each moment; tabs, semicolons, commas or blanks between its "
      "fields; a first line with names is skipped",
      required());
    v("column", column, "name of the column in the first line, or its number from 1");
    v("history", history, "values of a source", given(kLongestSentence));
    v("horizon", horizon, "values of a target", given(kLongestSentence));
    v("stride", stride, "values from one training window to the next", between(1, kMostSentences));
    v("stride_test",
      stride_test,
      "values from one window of dev or test to the next; null: the horizon",
      between(1, kMostSentences));
    v("dev", dev, "values to forecast for dev, those before test", given(kMostSentences));
    v("test", test, "values to forecast for test, the last of the series", given(kMostSentences));
    v("bins", bins, "target symbols", between(2, kMostSymbols));
    v("margin",
      margin,
      "share of the range of the training values by which the bins exceed it at each side",
      between(0, 100));
    v.check("dev", dev == 0 || dev >= horizon, "dev is shorter than the horizon");
    v.check("test", test == 0 || test >= horizon, "test is shorter than the horizon");
  }
};

// Returns the fields of a line of CSV; a field in double quotes may contain the separator, and quotes written twice.
// Separator ' ' stands for any white space.
std::vector<std::string> fields_of(const std::string& line, char separator) {
  if (separator == ' ') {
    const auto words = split_words(line);
    return {words.begin(), words.end()};
  }
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && line.substr(i + 1, 1) == "\"")
      fields.back() += line[i++];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == separator && !quoted)
      fields.emplace_back();
    else
      fields.back() += line[i];
  }
  for (std::string& field : fields) field = single_spaced(field);
  return fields;
}

char separator_of(const std::string& line) {
  for (const char separator : {'\t', ';', ','})
    if (line.find(separator) != line.npos) return separator;
  return ' ';
}

struct SeriesValues {
  std::vector<float> numbers;
  Index first_line = 1;
};

// Returns whether a field of the first line is a name, not a value or a missing value.
bool is_name(const std::string& field) {
  const std::string lower = lower_case(field);
  return !number_in(field) && lower != "" && lower != "na" && lower != "nan" && lower != "null";
}

// Throws DataError with file and line for a cell that is not a number.
SeriesValues read_values(const SeriesOptions& options) {
  TextFile file(options.file.path);
  std::string line;
  file.next(line);  // throws for an empty file
  const char separator = separator_of(line);
  const std::vector<std::string> names = fields_of(line, separator);
  auto column = usize(std::ranges::find(names, options.column) - names.begin());
  const auto number = number_in(options.column);
  const bool is_index = number && *number >= 1 && *number <= static_cast<double>(names.size()) &&
                        *number == std::floor(*number);
  const bool named = column < names.size() && !is_index;
  if (!named) {
    if (!is_index)
      throw DataError("{}: no column '{}'; the first line has {}{}",
                      file.path(),
                      printable(options.column),
                      counted(names.size(), "field"),
                      suggestion(options.column, names));
    column = static_cast<std::size_t>(*number) - 1;
  }
  const bool has_names = named || is_name(names[column]);
  SeriesValues values{{}, has_names ? 2 : 1};
  for (bool more = !has_names || file.next(line); more; more = file.next(line)) {
    const auto refuse = [&](const std::string& fault) {
      return DataError("{}:{}: {}", file.path(), file.line_number(), fault);
    };
    const std::vector<std::string> fields = fields_of(line, separator);
    if (fields.size() != names.size())
      throw refuse(
          fmt::format("{}, but line 1 has {}", counted(fields.size(), "field"), names.size()));
    const auto value = number_in(fields[column]);
    if (!value || std::abs(*value) > static_cast<double>(std::numeric_limits<float>::max()))
      throw refuse(fmt::format("'{}' in column '{}' is not a finite number; each moment needs one",
                               printable(fields[column]),
                               printable(options.column)));
    values.numbers.push_back(static_cast<float>(*value));
  }
  return values;
}

// The centres of bins over the range of the training values.
std::shared_ptr<const NumberVocabulary> bins_of(std::span<const float> training,
                                                const SeriesOptions& options) {
  const auto [low, high] = std::ranges::minmax(training);
  const double range = static_cast<double>(high) - static_cast<double>(low),
               width = range * (1 + 2 * options.margin) / static_cast<double>(options.bins),
               first = static_cast<double>(low) - range * options.margin + width / 2;
  if (!(width > 0))
    throw DataError("{}: all training values are {} in float32", options.file.path, low);
  int decimals = 0;  // such that half a unit of the last one is at most a hundredth of a bin
  for (double unit = 1; unit > width / 50 && decimals < 300; unit /= 10) ++decimals;
  std::vector<std::string> symbols;
  for (Index k = 0; k < options.bins; ++k) {
    const double centre = first + static_cast<double>(k) * width;
    std::string text = fmt::format("{:.{}f}", centre, decimals);
    if (number_in(text) == 0.0 && text[0] == '-') text.erase(0, 1);
    symbols.push_back(std::move(text));
  }
  return std::make_shared<NumberVocabulary>(symbols);
}

// Returns the bins of a trained model.
std::shared_ptr<const NumberVocabulary> bins_of(const Vocabulary& trained) {
  std::vector<std::string> symbols;
  for (Token id = kSpecials; id < static_cast<Token>(trained.size()); ++id)
    symbols.push_back(trained.symbol(id));
  return std::make_shared<NumberVocabulary>(symbols);
}

class Series final : public Task {
 public:
  using Options = SeriesOptions;
  explicit Series(const Options& options) : options_(options) {}

  DataOutline outline() const override {
    const auto even = DataOutline::Lengths::even;
    const DataOutline::SplitOutline split{.links = false,
                                          .source = even(options_.history, options_.history),
                                          .target = even(options_.horizon, options_.horizon)};
    return {.target_symbols = kSpecials + options_.bins,
            .frames = kFormat,
            .one_vocabulary = false,
            .target_length = options_.horizon,
            .train = split,
            .dev = split,
            .test = split};
  }

  void check_source(Index length) const override {
    if (length != options_.history)
      throw DataError(
          "{}, but task.history is {}: give the {} values before the first that is forecast",
          counted(length, "value"),
          options_.history,
          options_.history);
  }

  Dataset load(std::uint64_t, const Progress&) const override {
    const SeriesValues values = read_values(options_);
    const std::span<const float> training =
        std::span(values.numbers).first(usize(training_values(values)));
    const auto bins = bins_of(training, options_);
    Dataset data =
        empty(bins, statistics_of(kFormat.size, true, [&](const auto& add) { add(training); }));
    const auto count = std::ssize(values.numbers), trained = std::ssize(training);
    fill(data, data.train, values, *bins, options_.history, trained, options_.stride);
    fill(data, data.dev, values, *bins, trained, count - options_.test, stride_test());
    fill(data, data.test, values, *bins, count - options_.test, count, stride_test());
    return data;
  }

  Dataset load_to_measure(std::uint64_t,
                          const std::string& split,
                          const Vocabularies& vocabularies,
                          const Progress&) const override {
    const SeriesValues values = read_values(options_);
    const auto bins = bins_of(*vocabularies.target);
    Dataset data = empty(bins, vocabularies.statistics);
    const auto count = std::ssize(values.numbers), test = count - options_.test;
    if (const Index rest = split == "dev" ? options_.dev + options_.test : options_.test;
        count < options_.history + rest)
      throw DataError("{}: too few values, {}, for history {} and {} to forecast",
                      options_.file.path,
                      count,
                      options_.history,
                      rest);
    if (split == "dev")
      fill(data, data.dev, values, *bins, test - options_.dev, test, stride_test());
    else
      fill(data, data.test, values, *bins, test, count, stride_test());
    return data;
  }

  void check_files() const override { load(0, {}); }

 private:
  static constexpr FrameFormat kFormat{.size = 1};

  Index stride_test() const { return options_.stride_test.value_or(options_.horizon); }

  Index training_values(const SeriesValues& values) const {
    const auto count = std::ssize(values.numbers), rest = options_.dev + options_.test;
    if (count < options_.history + options_.horizon + rest)
      throw DataError(
          "{}: too few values, {}, for a training window of history {} and horizon {}, {} for dev "
          "and {} for test",
          options_.file.path,
          count,
          options_.history,
          options_.horizon,
          options_.dev,
          options_.test);
    return count - rest;
  }

  static Dataset empty(std::shared_ptr<const Vocabulary> bins, FrameStatistics statistics) {
    Dataset data;
    data.target = std::move(bins);
    data.statistics = std::move(statistics);
    for (auto [split, name] :
         {std::pair(&data.train, "train"), {&data.dev, "dev"}, {&data.test, "test"}}) {
      split->name = name;
      split->examples = Examples(kFormat);
    }
    return data;
  }

  // Adds the windows whose targets lie in [begin, end) of the series.
  void fill(Dataset& data,
            Split& split,
            const SeriesValues& values,
            const NumberVocabulary& bins,
            Index begin,
            Index end,
            Index stride) const {
    const std::span<const float> all(values.numbers);
    Index at = std::max(begin, options_.history);
    if (at + options_.horizon > end)
      throw DataError("{}: too few values, {}, for history {} and horizon {} in {}",
                      options_.file.path,
                      all.size(),
                      options_.history,
                      options_.horizon,
                      split.name);
    const auto targets = all.subspan(usize(at), usize(end - at));
    const auto beyond = std::ranges::count_if(targets, [&](float value) {
      return static_cast<double>(value) < bins.low() || static_cast<double>(value) > bins.high();
    });
    if (beyond > 0)
      data.notes.push_back(
          fmt::format("{} of {} values to forecast in {} lie beyond the bins, "
                      "{:.6g} to {:.6g}, and take the outermost",
                      beyond,
                      targets.size(),
                      split.name,
                      bins.low(),
                      bins.high()));
    for (; at + options_.horizon <= end; at += stride) {
      const auto past = all.subspan(usize(at - options_.history), usize(options_.history));
      std::vector<float> frames(past.begin(), past.end());
      normalise_frames(frames, kFormat, data.statistics);
      std::vector<Token> target;
      for (const float value : all.subspan(usize(at), usize(options_.horizon)))
        target.push_back(bins.nearest(static_cast<double>(value)));
      const std::string text = data.target->join(target);
      const std::string source = fmt::format("{} before line {} ({})",
                                             counted(options_.history, "value"),
                                             values.first_line + at,
                                             fingerprint(past));
      split.examples.append(
          {.target = target, .source_text = source, .target_text = text, .frames = frames});
      ++split.counts.read;
      ++split.counts.kept;
    }
  }

  Options options_;
};

SOFTALIGN_TASK("series", Series, "windows of a time series from a text file, to be continued");

}  // namespace
}  // namespace softalign
