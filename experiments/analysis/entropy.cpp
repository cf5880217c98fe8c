// entropy.py in C++, with the reader that softalign installs: entropy RUN.h5 prints the same table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>

#include "framework/record/published/arrays.hpp"

using namespace softalign;

namespace {

struct Bucket {
  std::string label;
  Index longest = 0;  // source tokens, without </s>
  Index sentences = 0;
  Index rows = 0;
  double entropy = 0, share = 0;  // sums over the rows: in nats, and of ln S
};

// "1-10", "11-20", .., "51+"
Index longest_of(const std::string& label) {
  if (label.back() == '+') return std::numeric_limits<Index>::max();
  return std::stoll(label.substr(label.find('-') + 1));
}

void add(Bucket& bucket, const Alignment& matrix) {
  const double most = std::log(std::max(matrix.source.size(), std::size_t{2}));
  const xt::xtensor<double, 2> weights = as_array(matrix);  // [target, source]
  const double entropy = -xt::sum(xt::where(weights > 0, weights * xt::log(weights), 0.0))();
  bucket.rows += std::ssize(matrix.target);
  bucket.entropy += entropy;
  bucket.share += entropy / most;
}

void print_entropies(const char* path) {
  const Record record(path);
  if (!record.has("alignments/cross") || !record.has("test/by_length"))
    throw DataError("{}: no attention matrices of test sentences", path);
  const StoredAlignments alignments = record.alignments();
  std::vector<Bucket> buckets;
  const Array labels = record.array("test/by_length", "label");
  for (const std::string& label : std::get<std::vector<std::string>>(labels.values))
    buckets.push_back({.label = label, .longest = longest_of(label)});

  for (const Index sentence : alignments.sentences("cross")) {
    const std::vector<Alignment> matrices = alignments.of_sentence("cross", sentence);
    if (matrices.empty()) continue;
    const Index length = std::ssize(matrices.back().source) - 1;
    const auto bucket = std::find_if(
        buckets.begin(), buckets.end(), [&](const Bucket& b) { return length <= b.longest; });
    if (bucket == buckets.end())
      throw DataError("{}: sentence {} is in no bucket of length", path, sentence);
    ++bucket->sentences;
    for (const Alignment& matrix : matrices)  // every update and head
      if (matrix.update == matrices.back().update) add(*bucket, matrix);
  }

  fmt::print("length   sentences  entropy  / ln S\n");
  for (const Bucket& b : buckets) {
    const auto n = static_cast<double>(b.rows);
    if (b.sentences > 0)
      fmt::print("{:8} {:9} {:8.4f} {:7.4f}\n", b.label, b.sentences, b.entropy / n, b.share / n);
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) throw SpecError("usage: entropy RUN.h5");
  print_entropies(arguments[1]);
} catch (const Error& error) {
  fmt::print(stderr, "entropy: {}\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  fmt::print(stderr, "entropy: {}\n", error.what());
  return 1;
}
