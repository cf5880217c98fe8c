#include "framework/eval/metric_conformance.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/columns.hpp"
#include "framework/eval/ibm_model1.hpp"

namespace softalign {
namespace {

using Faults = std::vector<std::string>;

constexpr Token kWords = 5;

std::vector<Token> made_words(const RandomStream& stream, Index count, std::uint64_t round) {
  std::vector<Token> words;
  for (Index i = 0; i < count; ++i)
    words.push_back(kSpecials + static_cast<Token>(stream.below(kWords, usize(i), round)));
  return words;
}

std::string text_of(const std::vector<Token>& words) {
  std::string text;
  for (const Token word : words) text += fmt::format("{}{}", text.empty() ? "" : " ", word);
  return text;
}

// A sentence pair with made-up results of an evaluation, which differ from round to round.
struct MadeSentence {
  MadeSentence(Index length, std::uint64_t round) {
    const RandomStream pair(5, fmt::format("sentence of {}", length)), outcome(7, "outcome");
    source = made_words(pair, length, 0);
    target = made_words(pair, length, 1);
    source_text = text_of(source);
    target_text = text_of(target);
    for (Index i = 0; i < length; ++i) links.push_back({i, length - 1 - i, i % 2 == 0});

    forced.nll = 0.5 + static_cast<double>(outcome.below(1000, usize(length), round)) / 100;
    forced.target = target;
    forced.target.push_back(kEnd);
    forced.best = made_words(outcome, length + 1, 3 * round + 1);
    const Index decoded_length = (length + static_cast<Index>(round)) % 7;  // may be 0
    decoded.tokens = decoded.symbols = made_words(outcome, decoded_length, 3 * round + 2);
    decoded.text = text_of(decoded.tokens);
    decoded.score = -forced.nll;

    attention = {length + 1, length + 1, {}};
    for (Index t = 0; t <= length; ++t) {
      std::vector<float> row;
      for (Index s = 0; s <= length; ++s)
        row.push_back(outcome.uniform(usize(t * (length + 1) + s), 3 * round + 3) + 0.01F);
      float sum = 0;
      for (const float weight : row) sum += weight;
      for (const float weight : row) attention.weights.push_back(weight / sum);
    }
    forced.attention = attention;
  }

  Example example() const { return {source, target, links, source_text, target_text}; }

  std::vector<Token> source, target;
  std::string source_text, target_text;
  std::vector<Link> links;
  TeacherForced forced;
  Decoded decoded;
  AlignmentMatrix attention;
};

constexpr Index kLengths[] = {1, 2, 5, 40};
constexpr std::uint64_t kOutcomes = 3;

// Sentences of kLengths with the results of a round, and a baseline that was trained on other sentences.
struct MadeSet {
  explicit MadeSet(std::uint64_t round) {
    Examples training;
    for (const Index length : kLengths) {
      sentences.emplace_back(length, round);
      training.append(MadeSentence(length + static_cast<Index>(round), 0).example());
    }
    ibm_model1 = std::make_unique<IbmModel1>(training);
  }

  std::deque<MadeSentence> sentences;
  std::unique_ptr<IbmModel1> ibm_model1;
};

// Returns sentence i, with the results of `source` from `own` and all other results from `rest`.
EvaluatedSentence sentence_of(std::size_t i,
                              CountSource source,
                              const MadeSet& own,
                              const MadeSet& rest) {
  const CountSource pass = source == CountSource::numbers ? CountSource::decoded : source;
  const auto of = [&](CountSource part) -> const MadeSet& { return part == pass ? own : rest; };
  const MadeSentence& attended = of(CountSource::attention).sentences[i];
  return {.example = own.sentences[i].example(),
          .forced = &of(CountSource::forced).sentences[i].forced,
          .decoded = &of(CountSource::decoded).sentences[i].decoded,
          .attention = &attended.attention,
          .links = attended.links,
          .ibm_model1 = of(CountSource::baseline).ibm_model1.get(),
          .of_numbers = true};
}

class Trial {
 public:
  explicit Trial(const Metric& metric) : metric_(metric), columns_(metric.columns()) {
    for (std::uint64_t round = 0; round < kOutcomes; ++round) sets_.emplace_back(round);
  }

  Faults columns() const {
    Faults faults;
    if (columns_.empty()) faults.emplace_back("columns() is empty");
    std::set<std::string> names;
    for (const CountColumn& c : columns_) {
      if (c.name.empty()) faults.emplace_back("a column has no .name");
      if (!names.insert(c.name).second)
        faults.push_back(fmt::format("two are called '{}'", c.name));
      if (c.long_name.empty()) faults.push_back(fmt::format("'{}' has no .long_name", c.name));
      if (c.count == nullptr) faults.push_back(fmt::format("'{}' has no .count", c.name));
      if (c.width < 1) faults.push_back(fmt::format("'{}' is {} wide", c.name, c.width));
      if (c.width > 1 && !is_plugin_name(c.part))
        faults.push_back(
            fmt::format("'{}' is {} wide, but .part does not name one of its numbers: '{}'",
                        c.name,
                        c.width,
                        printable(c.part)));
      for (const auto& [what, text] : {std::pair(".long_name", &c.long_name), {".units", &c.units}})
        if (printable(*text, kWhole) != *text)
          faults.push_back(fmt::format("{} of '{}' cannot be printed", what, c.name));
    }
    return faults;
  }

  Faults company() const {
    std::vector<CountColumn> all = count_layout(default_metrics())->columns();
    all.insert(all.end(), columns_.begin(), columns_.end());
    const CountLayout together(std::move(all));  // throws if columns of one name differ
    Faults faults;
    for (const CountColumn& c : columns_) {
      const auto clashes = [&](const CountColumn& other) {
        return c.part == other.name || (c.part == other.part && c.width != other.width);
      };
      if (std::ranges::count(kSentenceArrays, c.name) > 0)
        faults.push_back(fmt::format("'{}' has another meaning in a record", c.name));
      if (c.width > 1 && (std::ranges::count(kSentenceArrays, c.part) > 0 ||
                          std::ranges::any_of(together.columns(), clashes)))
        faults.push_back(
            fmt::format("a part of '{}' is called '{}', which has another meaning in a record",
                        c.name,
                        c.part));
    }
    return faults;
  }

  Faults counts() const {
    Faults faults;
    for (const CountColumn& column : columns_)
      for (std::size_t i = 0; i < std::size(kLengths); ++i)
        if (const std::string fault = fault_of(column, i); !fault.empty()) {
          faults.push_back(fault);
          break;
        }
    return faults;
  }

  Faults values() const {
    const MetricFacts facts = metric_.facts();
    Faults faults;
    if (facts.title.empty()) faults.emplace_back("about() has no .title");
    for (const auto& [what, text] : {std::pair(".title", &facts.title),
                                     {".units", &facts.units},
                                     {".signature", &facts.signature},
                                     {".baseline_of", &facts.baseline_of}})
      if (printable(*text, kWhole) != *text)
        faults.push_back(fmt::format("about(): {} cannot be printed", what));
    if (!(facts.least < facts.most)) faults.emplace_back("about(): .least is not below .most");
    const auto layout = std::make_shared<CountLayout>(columns_);
    if (const double none = metric_.value({*layout, {}}); !std::isnan(none))
      faults.push_back(fmt::format("without sentences it is {}, not NaN", none));
    for (const MadeSet& set : sets_) {
      CountTable table(layout, std::ssize(set.sentences));
      for (std::size_t i = 0; i < set.sentences.size(); ++i)
        table.count(static_cast<Index>(i), sentence_of(i, CountSource::forced, set, set));
      CountRows rows = rows_of(table);
      const double all = metric_.value({*layout, rows});
      if (!std::isnan(all) && !(all >= facts.least && all <= facts.most))
        faults.push_back(
            fmt::format("{} is not in its range, {} to {}", all, facts.least, facts.most));
      const CountTable nothing(layout, 1);
      rows.push_back(nothing.row(0).data());
      if (const double unknown = metric_.value({*layout, rows}); !std::isnan(unknown))
        faults.push_back(
            fmt::format("with a sentence that was not measured it is {}, not NaN", unknown));
    }
    return faults;
  }

 private:
  // Returns the numbers of a column and kBehind more; NaN: not written.
  std::vector<double> counted(const CountColumn& column, const EvaluatedSentence& sentence) const {
    std::vector<double> numbers(usize(column.width) + kBehind, kUndefined);
    column.count(sentence, std::span(numbers).first(usize(column.width)));
    return numbers;
  }

  std::string fault_of(const CountColumn& column, std::size_t i) const {
    const EvaluatedSentence sentence = sentence_of(i, column.source, sets_[0], sets_[0]);
    const std::vector<double> numbers = counted(column, sentence);
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const bool behind = n >= usize(column.width);
      if (behind && !std::isnan(numbers[n]))
        return fmt::format("'{}' writes beyond its {} numbers", column.name, column.width);
      if (!behind && std::isnan(numbers[n]))
        return fmt::format("'{}' does not fill all its {} numbers", column.name, column.width);
      if (!behind && !column.holds(numbers[n]))
        return fmt::format(
            "'{}' counts {}, which its .stored cannot hold", column.name, numbers[n]);
    }
    if (const auto again = counted(column, sentence);
        !std::equal(again.begin(), again.begin() + column.width, numbers.begin()))
      return fmt::format("'{}' gives different numbers for the same sentence", column.name);
    for (std::size_t other = 1; other < sets_.size(); ++other)
      if (const auto again = counted(column, sentence_of(i, column.source, sets_[0], sets_[other]));
          !std::equal(again.begin(), again.begin() + column.width, numbers.begin()))
        return fmt::format(
            "'{}' has .source = CountSource::{}, but depends on another part of the sentence, "
            "which may be missing",
            column.name,
            name_of(column.source));
    return {};
  }

  static constexpr std::size_t kBehind = 64;

  const Metric& metric_;
  std::vector<CountColumn> columns_;
  std::deque<MadeSet> sets_;
};

}  // namespace

std::vector<ConformanceResult> check_metric(const Metric& metric) {
  const Trial trial(metric);
  std::vector<ConformanceResult> results;
  const auto run = [&](const char* check, const char* kept, const std::function<Faults()>& faults) {
    try {
      const Faults found = faults();
      results.push_back({check, found.empty(), found.empty() ? kept : found.front()});
    } catch (const std::exception& error) {
      results.push_back({check, false, error.what()});
    } catch (...) {  // plugins may throw anything
      results.push_back({check, false, kNoException});
    }
  };
  run("columns", "have names, widths and functions that count", [&] { return trial.columns(); });
  if (!results.back().passed) return results;  // columns without .count cannot be tested
  run("company", "agree with other metrics on shared names", [&] { return trial.company(); });
  run("counts", "fill their numbers, and read only their source", [&] { return trial.counts(); });
  if (!results.back().passed) return results;  // such a count may write out of bounds
  run("values", "are in range, and NaN where sentences do not define them", [&] {
    return trial.values();
  });
  return results;
}

}  // namespace softalign
