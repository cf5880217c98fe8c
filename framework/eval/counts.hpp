// Counts of single sentences. A metric is a function of these counts over any set of sentences, so a length
// bucket, a bootstrap sample or a test read from a record needs no new decoding.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/array.hpp"
#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/alignments.hpp"

namespace softalign {

class IbmModel1;

// The result of teacher forcing: the decoder reads the reference, and predicts its tokens and </s>.
struct TeacherForced {
  double nll = 0;  // nats, summed over the target tokens and </s>
  std::vector<Token>
      target;  // [steps] the reference with </s>; words that can only be copied: see Copies
  std::vector<Token> best;    // [steps] the most probable token given the preceding reference
  AlignmentMatrix attention;  // empty if the model does not align
  std::vector<HeadMatrix> heads;
  std::vector<HeadMatrix> own_heads;  // of the decoder's self-attention
};

// The search's best hypothesis.
struct Decoded {
  std::vector<Token> tokens;  // without </s>
  std::string text;
  // The vocabulary's segmentation of the text, even if the search produced other symbols; but the symbols of
  // the search if they include an <unk>, which cannot come from text.
  std::vector<Token> symbols;
  double score = 0;      // by which the search ranked it
  bool finished = true;  // false: the length limit was reached before </s>
  std::vector<Link> replaced =
      {};  // links each <unk> of `tokens` that is replaced in the text with its source word
};

// A sentence with all results of its evaluation, for metrics to count. Results of passes that were not made are null.
struct EvaluatedSentence {
  Example example;
  const TeacherForced* forced = nullptr;
  const Decoded* decoded = nullptr;
  const AlignmentMatrix* attention = nullptr;  // teacher-forced
  RowAligns row_aligns = RowAligns::predicted;
  std::span<const Link> links = {};              // gold links to positions of `attention`
  const WordGroups* words = nullptr;             // of the attention; null: all symbols are words
  const IbmModel1* ibm_model1 = nullptr;         // trained on the training pairs
  std::span<const std::string> references = {};  // the additional references; "": missing
  bool of_numbers = false;                       // the target vocabulary is a NumberVocabulary

  // Returns all references for a hypothesis: the example's target, then the additional ones.
  std::vector<std::string_view> all_references() const;
};

// The pass that a column is counted from: teacher forcing, the output of the search, the same if targets are numbers,
// the teacher-forced attention, or IBM Model 1.
enum class CountSource { forced, decoded, numbers, attention, baseline };
const char* name_of(CountSource source);  // "decoded"

// One count of a sentence, or several of a kind: a column of /test in the record. Columns with the same name
// must be the same column; metrics may share them (eval/columns.hpp).
struct CountColumn {
  enum class Stored { int32, uint8, float64 };
  using Of = std::function<void(const EvaluatedSentence&, std::span<double> counts)>;

  std::string name;       // "free_running_hits"
  std::string long_name;  // for people who open the record
  CountSource source = CountSource::forced;
  Of count;  // fills [width]; called only if its pass was made
  Stored stored = Stored::int32;
  std::string units = "1";
  Index width = 1;
  std::string part = {};  // the name of one of several counts: "bleu_stat"

  bool holds(double number) const;  // returns whether `stored` can represent the number
};

// The offsets of columns in a row of numbers.
class CountLayout {
 public:
  // Merges columns with the same name. Throws SpecError if they are not the same column.
  explicit CountLayout(std::vector<CountColumn> columns);

  const std::vector<CountColumn>& columns() const { return columns_; }
  Index width() const { return width_; }  // numbers per sentence
  // Returns the offset of a column's first number. Throws BugError if the column is missing or has another width.
  Index place(std::string_view column, Index width) const;

 private:
  std::vector<CountColumn> columns_;
  std::vector<Index> places_;
  Index width_ = 0;
};

// [sentences, numbers]; NaN: not measured.
class CountTable {
 public:
  CountTable() = default;
  CountTable(std::shared_ptr<const CountLayout> layout, Index sentences);  // all NaN

  Index sentences() const { return static_cast<Index>(numbers_.shape(0)); }
  const CountLayout& layout() const { return *layout_; }
  std::span<double> row(Index sentence);
  std::span<const double> row(Index sentence) const;
  // Fills the columns of a sentence whose pass was made.
  void count(Index sentence, const EvaluatedSentence& evaluated);

 private:
  std::shared_ptr<const CountLayout> layout_;
  Array2d numbers_;
};

// Returns whether the column was counted; a column is counted for all sentences or for none.
bool is_measured(const CountTable& counts, const CountColumn& column);

// Rows of tables with the same layout, in any order; a sentence may occur more than once.
using CountRows = std::vector<const double*>;
CountRows rows_of(const CountTable& table);
CountRows rows_of(const CountTable& table, std::span<const Index> sentences);

// The counts that a metric reads.
class Counts {
 public:
  Counts(const CountLayout& layout, std::span<const double* const> rows)
      : layout_(layout), rows_(rows) {}

  Index sentences() const { return std::ssize(rows_); }
  // Sums over the sentences, in their order; NaN if one was not measured.
  double sum(std::string_view column) const { return sums<1>(column)[0]; }
  template <std::size_t N>
  std::array<double, N> sums(std::string_view column) const;
  // Returns the largest of a column's numbers at `part`; NaN if no sentence was measured.
  double largest(std::string_view column, Index width, Index part) const;

 private:
  const CountLayout& layout_;
  std::span<const double* const> rows_;
};

template <std::size_t N>
std::array<double, N> Counts::sums(std::string_view column) const {
  const Index place = layout_.place(column, N);
  std::array<double, N> sums{};
  for (const double* row : rows_)
    for (std::size_t i = 0; i < N; ++i) sums[i] += row[place + static_cast<Index>(i)];
  return sums;
}

}  // namespace softalign
