// Counts of single sentences. A metric is a function of these counts over any set of sentences, so a length
// bucket, a bootstrap sample or a test read back from a record needs nothing decoded again.
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

// The decoder is fed the reference, and predicts its tokens and </s>.
struct TeacherForced {
  double nll = 0;  // nats, summed over the target tokens and </s>
  std::vector<Token>
      target;  // [steps] the reference with </s>; words that can only be copied as in Copies
  std::vector<Token> best;    // [steps] the most probable token given the reference before it
  AlignmentMatrix attention;  // empty for a model that does not align
  std::vector<HeadMatrix> heads;
  std::vector<HeadMatrix> own_heads;  // of the decoder's self-attention
};

// The search's best hypothesis.
struct Decoded {
  std::vector<Token> tokens;  // without </s>
  std::string text;
  // The vocabulary's segmentation of the text, whichever symbols the search produced; if there is an
  // <unk> in it, which cannot come from text, the symbols of the search.
  std::vector<Token> symbols;
  double score = 0;      // by which the search ranked it
  bool finished = true;  // false: the length limit came before </s>
  std::vector<Link> replaced =
      {};  // each <unk> of `tokens` that another word replaces in the text, and its source word
};

// One sentence with all results of its evaluation, for metrics to count. Passes that were not made are null.
struct EvaluatedSentence {
  Example example;
  const TeacherForced* forced = nullptr;
  const Decoded* decoded = nullptr;
  const AlignmentMatrix* attention = nullptr;  // teacher-forced
  RowAligns row_aligns = RowAligns::predicted;
  std::span<const Link> links = {};              // known, between positions of `attention`
  const WordGroups* words = nullptr;             // of attention's positions; null: all are words
  const IbmModel1* ibm_model1 = nullptr;         // trained on the training pairs
  std::span<const std::string> references = {};  // further ones of the example; "": missing
  bool of_numbers = false;                       // the target vocabulary is a NumberVocabulary

  // The texts that a hypothesis may be compared with: the example's target, then further ones.
  std::vector<std::string_view> all_references() const;
};

// Which pass a column comes from: teacher forcing, the output of the search (also: where the targets are numbers), the
// teacher-forced attention, IBM Model 1.
enum class CountSource { forced, decoded, numbers, attention, baseline };
const char* name_of(CountSource source);  // "decoded"

// One count of a sentence, or several of a kind: a column of /test in the record. Columns of one name
// are the same column: metrics may share them (eval/columns.hpp).
struct CountColumn {
  enum class Stored { int32, uint8, float64 };
  using Of = std::function<void(const EvaluatedSentence&, std::span<double> counts)>;

  std::string name;       // "free_running_hits"
  std::string long_name;  // for people who open the record
  CountSource source = CountSource::forced;
  Of count;  // fills [width]; called only where its pass is there
  Stored stored = Stored::int32;
  std::string units = "1";
  Index width = 1;
  std::string part = {};  // what one of several is called: "bleu_stat"

  bool holds(double number) const;  // whether `stored` can
};

// The offsets of columns in a row of numbers.
class CountLayout {
 public:
  // Columns of one name are taken once. Throws SpecError where they are not the same column.
  explicit CountLayout(std::vector<CountColumn> columns);

  const std::vector<CountColumn>& columns() const { return columns_; }
  Index width() const { return width_; }  // numbers of a sentence
  // The index of a column's first number. Throws BugError for a column that is missing, or has another width.
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
  // Counts all of a sentence that can be counted.
  void count(Index sentence, const EvaluatedSentence& evaluated);

 private:
  std::shared_ptr<const CountLayout> layout_;
  Array2d numbers_;
};

// Returns whether the column was counted, which is so for all sentences or none.
bool is_measured(const CountTable& counts, const CountColumn& column);

// Rows of tables of one layout, in an order; a sentence may come more than once.
using CountRows = std::vector<const double*>;
CountRows rows_of(const CountTable& table);
CountRows rows_of(const CountTable& table, std::span<const Index> sentences);

// The counts that a metric sees.
class Counts {
 public:
  Counts(const CountLayout& layout, std::span<const double* const> rows)
      : layout_(layout), rows_(rows) {}

  Index sentences() const { return std::ssize(rows_); }
  // Over the sentences, in their order; NaN where one was not measured.
  double sum(std::string_view column) const { return sums<1>(column)[0]; }
  template <std::size_t N>
  std::array<double, N> sums(std::string_view column) const;
  // The largest of a column's numbers at `part`; NaN without sentences, or where none was measured.
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
