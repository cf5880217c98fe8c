#include "framework/eval/beam.hpp"

#include <algorithm>
#include <cmath>

#include "framework/data/vocabulary.hpp"
#include "framework/kernels/cross_entropy.hpp"

namespace softalign {
namespace {

// One symbol of some hypothesis; hypotheses are chains of these, from the last symbol back.
struct Symbol {
  Token token;
  std::size_t parent;     // kRoot: the first symbol
  std::size_t alignment;  // where its row of weights begins in the pool
};
constexpr std::size_t kRoot = static_cast<std::size_t>(-1);

struct Live {
  Index sentence;
  Index row;  // in the arrays of the last step
  double log_probability;
  std::size_t symbol;  // its last one
};

struct Candidate {
  double log_probability;
  std::size_t live;
  Token token;
};

// Rows of an array copied into memory of our own, so that the step's arrays can be dropped.
class Rows {
 public:
  void gather(View from, std::span<const Index> rows) {
    const Index each = from.shape[0] == 0 ? 0 : from.size() / from.shape[0];
    next_.resize(rows.size() * static_cast<std::size_t>(each));
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(
          from.data + rows[i] * each, each, next_.data() + i * static_cast<std::size_t>(each));
    numbers_.swap(next_);
    const Index count = static_cast<Index>(rows.size());
    shape_ = from.shape.rank() == 3   ? Shape{count, from.shape[1], from.shape[2]}
             : from.shape.rank() == 2 ? Shape{count, from.shape[1]}
                                      : Shape{count};
  }
  Var on(Tape& tape) { return tape.constant({numbers_.data(), shape_}); }

 private:
  std::vector<real> numbers_, next_;
  Shape shape_;
};

class Beam {
 public:
  Beam(const Model& model, Tape& tape, const SourceBatch& source, const BeamSettings& settings)
      : model_(model), tape_(tape), source_(source), settings_(settings) {}

  std::vector<std::vector<Hypothesis>> run() {
    tape_.reset();
    whole_ =
        model_.read(tape_, source_.tokens, source_.sentences, source_.positions, source_.lengths);
    mark_ = tape_.mark();
    finished_.resize(static_cast<std::size_t>(source_.sentences));
    for (Index b = 0; b < source_.sentences; ++b) {
      live_.push_back({b, b, 0, kRoot});
      origin_.push_back(b);
    }
    state_.resize(whole_.state.size());
    for (std::size_t k = 0; k < state_.size(); ++k)
      state_[k].gather(whole_.state[k].value(), origin_);
    gather_memory();
    for (Index step = 0; !live_.empty(); ++step) advance(step);
    for (auto& list : finished_)
      std::stable_sort(list.begin(), list.end(), [](const Hypothesis& a, const Hypothesis& b) {
        return a.finished != b.finished ? a.finished : a.score > b.score;
      });
    tape_.reset();
    return std::move(finished_);
  }

 private:
  // The memory of each live hypothesis: that of its sentence.
  void gather_memory() {
    rows_of_memory_.clear();
    lengths_.clear();
    for (const Live& live : live_) {
      rows_of_memory_.push_back(live.sentence);
      lengths_.push_back(source_.lengths[static_cast<std::size_t>(live.sentence)]);
    }
    keys_.gather(whole_.memory.keys.value(), rows_of_memory_);
    if (whole_.memory.values) values_.gather(whole_.memory.values.value(), rows_of_memory_);
  }

  void advance(Index step) {
    tape_.rewind(mark_);
    Model::Source now;
    now.memory = {keys_.on(tape_), whole_.memory.values ? values_.on(tape_) : Var(), lengths_};
    for (Rows& rows : state_) now.state.push(rows.on(tape_));
    previous_.clear();
    for (const Live& live : live_)
      previous_.push_back(live.symbol == kRoot ? kBegin : symbols_[live.symbol].token);
    const Model::Prediction prediction = model_.predict(tape_, now, previous_);
    View logits = prediction.logits.value();
    kernels::log_softmax(logits.shape[0], logits.shape[1], logits.data);

    next_.clear();
    for (std::size_t begin = 0; begin < live_.size();) {
      std::size_t end = begin;
      while (end < live_.size() && live_[end].sentence == live_[begin].sentence) ++end;
      choose(begin, end, step, logits, prediction.weights);
      begin = end;
    }
    bool same_memory = next_.size() == live_.size();
    origin_.clear();
    for (std::size_t i = 0; i < next_.size(); ++i) {
      origin_.push_back(next_[i].row);
      same_memory = same_memory && next_[i].sentence == live_[i].sentence;
      next_[i].row = static_cast<Index>(i);
    }
    live_.swap(next_);
    for (std::size_t k = 0; k < state_.size(); ++k)
      state_[k].gather(prediction.next[k].value(), origin_);
    if (!same_memory) gather_memory();
  }

  // The best continuations of one sentence's hypotheses, live_[begin, end).
  void choose(std::size_t begin, std::size_t end, Index step, View logits, Var weights) {
    const Index sentence = live_[begin].sentence;
    auto& finished = finished_[static_cast<std::size_t>(sentence)];
    const Index length = source_.lengths[static_cast<std::size_t>(sentence)];
    const std::size_t width = static_cast<std::size_t>(settings_.width) - finished.size();
    const Index vocabulary = logits.shape[1];
    best_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const real* row = logits.data + live_[i].row * vocabulary;
      for (Index v = 0; v < vocabulary; ++v) {
        const double p = live_[i].log_probability + static_cast<double>(row[v]);
        if (v == kBegin || (best_.size() == width && !(p > best_.back().log_probability))) continue;
        if (best_.size() == width) best_.pop_back();
        const auto place =
            std::upper_bound(best_.begin(), best_.end(), p, [](double x, const Candidate& c) {
              return x > c.log_probability;
            });
        best_.insert(place, {p, i, static_cast<Token>(v)});
      }
    }
    const bool at_limit =
        step + 1 >=
        static_cast<Index>(settings_.max_ratio * static_cast<double>(length)) + settings_.max_extra;
    for (const Candidate& candidate : best_) {
      const Live& from = live_[candidate.live];
      const std::size_t alignment = pool_.size();
      if (weights) {
        const real* row = weights.value().data + from.row * weights.shape()[1];
        pool_.insert(pool_.end(), row, row + length);
      }
      symbols_.push_back({candidate.token, from.symbol, alignment});
      if (candidate.token == kEnd || at_limit)
        finished.push_back(finish(candidate.log_probability, length, weights ? true : false));
      else
        next_.push_back({sentence, from.row, candidate.log_probability, symbols_.size() - 1});
    }
  }

  // The hypothesis that ends in the newest symbol.
  Hypothesis finish(double log_probability, Index length, bool aligned) const {
    Hypothesis hypothesis;
    hypothesis.log_probability = log_probability;
    std::vector<std::size_t> chain;
    for (std::size_t s = symbols_.size() - 1; s != kRoot; s = symbols_[s].parent)
      chain.push_back(s);
    std::reverse(chain.begin(), chain.end());
    for (std::size_t s : chain) {
      if (symbols_[s].token != kEnd) hypothesis.tokens.push_back(symbols_[s].token);
      if (!aligned) continue;
      const auto row = pool_.begin() + static_cast<std::ptrdiff_t>(symbols_[s].alignment);
      hypothesis.alignment.insert(hypothesis.alignment.end(), row, row + length);
    }
    hypothesis.finished = symbols_.back().token == kEnd;
    hypothesis.score = log_probability /
                       std::pow(static_cast<double>(chain.size()), settings_.length_normalization);
    return hypothesis;
  }

  const Model& model_;
  Tape& tape_;
  const SourceBatch& source_;
  const BeamSettings& settings_;
  Model::Source whole_;  // one row for each sentence
  Tape::Mark mark_;
  std::vector<Live> live_, next_;
  std::vector<Symbol> symbols_;
  std::vector<float> pool_;  // rows of weights
  std::vector<Candidate> best_;
  std::vector<Index> origin_, rows_of_memory_, lengths_;
  std::vector<Token> previous_;
  std::vector<Rows> state_;
  Rows keys_, values_;
  std::vector<std::vector<Hypothesis>> finished_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const Model& model,
                                                 Tape& tape,
                                                 const SourceBatch& source,
                                                 const BeamSettings& settings) {
  return Beam(model, tape, source, settings).run();
}

}  // namespace softalign
