#include "framework/eval/shared_evaluation.hpp"

#include <algorithm>

#include "framework/base/bytes.hpp"

namespace softalign {
namespace {

// Writes results to bytes, or reads them back. Both directions share one list of members.
class Packer {
 public:
  void operator()(AlignmentMatrix& matrix) {
    numbers(matrix.steps, matrix.positions);
    list(matrix.weights);
  }
  void operator()(HeadMatrix& one) {
    numbers(one.layer, one.head);
    (*this)(one.matrix);
  }
  void operator()(Index& number) { numbers(number); }
  void operator()(Link& link) { numbers(link.source, link.target, link.sure); }
  void operator()(Decoded& decoded) {
    list(decoded.tokens);
    text(decoded.text);
    list(decoded.symbols);
    numbers(decoded.score, decoded.finished);
    (*this)(decoded.replaced);
  }
  template <class T>
  void operator()(std::vector<T>& all) {
    std::uint64_t size = all.size();
    numbers(size);
    all.resize(size);
    for (T& one : all) (*this)(one);
  }
  void operator()(std::span<double> row) {
    for (double& number : row) numbers(number);
  }

  virtual ~Packer() = default;

 protected:
  // Numbers of any arithmetic types.
  template <class... T>
  void numbers(T&... values) {
    (raw(reinterpret_cast<char*>(&values), sizeof values), ...);
  }
  template <class T>
  void list(std::vector<T>& values) {
    std::uint64_t size = values.size();
    numbers(size);
    values.resize(size);
    raw(reinterpret_cast<char*>(values.data()), size * sizeof(T));
  }
  void text(std::string& value) {
    std::uint64_t size = value.size();
    numbers(size);
    value.resize(size);
    raw(value.data(), size);
  }
  virtual void raw(char* bytes, std::size_t size) = 0;
};

class Writer final : public Packer {
 public:
  std::string bytes;

 private:
  void raw(char* from, std::size_t size) override { bytes.append(from, size); }
};

class Reader final : public Packer {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::size_t left() const { return rest_.left(); }

 private:
  void raw(char* to, std::size_t size) override { std::ranges::copy(rest_.take(size), to); }
  ByteReader rest_;
};

// Writes or reads all results of an example.
void pack(Packer& packer, EvaluatedSplit& results, std::size_t example) {
  packer(results.counts.row(static_cast<Index>(example)));
  const auto of = [&](auto& all) {
    if (example < all.size()) packer(all[example]);
  };
  of(results.decoded);
  of(results.forced);
  of(results.forced_heads);
  of(results.searched);
  of(results.self_attention);
  of(results.decoder_self_attention);
}

}  // namespace

void collect(Ranks& ranks, EvaluatedSplit& results, std::span<const Index> examples) {
  if (ranks.count() == 1) return;
  Writer own;
  if (!ranks.first())
    for (Index example : examples) {
      own(example);
      pack(own, results, usize(example));
    }
  const std::vector<std::string> all = gather(ranks, own.bytes);
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    for (Reader reader(all[rank]); reader.left() > 0;) {
      Index example = 0;
      reader(example);
      pack(reader, results, usize(example));
    }
}

}  // namespace softalign
