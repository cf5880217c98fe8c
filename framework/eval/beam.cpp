#include "framework/eval/beam.hpp"

#include <algorithm>
#include <cmath>

#include "framework/data/vocabulary.hpp"
#include "framework/eval/beam_rows.hpp"
#include "framework/kernels/cross_entropy.hpp"

namespace softalign {

// A hypothesis is a chain of these, from its last symbol back.
struct BeamSymbol {
  Token token;
  const BeamSymbol* parent;  // null: the first
  const real* alignment;     // its row of weights, [annotations]; null without attention
};

namespace {

struct Candidate {
  double log_probability;
  std::size_t live;
  Token token;
};

// No logit up to this adds more than `least` to a hypothesis: a little below the exact number,
// because the sum it bounds is rounded.
real lowest_logit(double least, double log_probability, double log_sum) {
  const double slack = 1e-6 * (std::abs(least) + std::abs(log_probability) + std::abs(log_sum));
  return static_cast<real>(least - log_probability + log_sum - slack);
}

// What a step needs lies on the tape and is dropped with it; what hypotheses consist of lies on its
// second tape. Both keep their memory, so that a steady step allocates none.
class Beam {
 public:
  Beam(const Model& model, Tape& tape, const SourceBatch& source, const BeamSettings& settings)
      : model_(model), tape_(tape), source_(source), settings_(settings) {}

  std::vector<std::vector<Hypothesis>> run() {
    tape_.reset();
    tape_.scratch().reset();
    const Model::Source whole = model_.read(tape_, source_);
    positions_ = whole.memory.lengths;
    const Index capacity = source_.sentences * settings_.width;
    live_.reserve(static_cast<std::size_t>(capacity));
    next_.reserve(static_cast<std::size_t>(capacity));
    previous_.resize(static_cast<std::size_t>(capacity));
    best_.reserve(static_cast<std::size_t>(settings_.width));
    finished_.resize(static_cast<std::size_t>(source_.sentences));
    for (Index b = 0; b < source_.sentences; ++b) live_.push_back({b, b, 0, nullptr});
    BeamRows rows(tape_, whole, capacity);
    rows.place(live_, whole.state);
    const Tape::Mark mark = tape_.mark();
    for (Index step = 0; !live_.empty(); ++step) {
      tape_.rewind(mark);
      rows.place(live_, advance(rows.source(), step));
    }
    for (auto& list : finished_)
      std::stable_sort(list.begin(), list.end(), [](const Hypothesis& a, const Hypothesis& b) {
        return a.finished != b.finished ? a.finished : a.score > b.score;
      });
    tape_.reset();
    tape_.scratch().reset();
    return std::move(finished_);
  }

 private:
  // One more symbol for every live hypothesis; the states that they go on from.
  State advance(const Model::Source& now, Index step) {
    for (const LiveHypothesis& live : live_)
      previous_[static_cast<std::size_t>(live.row)] =
          live.last == nullptr ? kBegin : live.last->token;
    const Model::Prediction prediction =
        model_.predict(tape_, now, std::span(previous_).first(live_.size()));
    const View logits = prediction.logits.value();
    const View log_sums = tape_.allocate({logits.shape[0]});
    kernels::log_sum_exp(logits.shape[0], logits.shape[1], logits.data, log_sums.data);

    next_.clear();
    for (std::size_t begin = 0; begin < live_.size();) {
      const Index sentence = live_[begin].sentence;
      const std::size_t width = static_cast<std::size_t>(settings_.width) -
                                finished_[static_cast<std::size_t>(sentence)].size();
      best_.clear();
      std::size_t end = begin;
      for (; end < live_.size() && live_[end].sentence == sentence; ++end) {
        const Index row = live_[end].row;
        consider(end,
                 {logits.data + row * logits.shape[1], {logits.shape[1]}},
                 log_sums.data[row],
                 width);
      }
      go_on(sentence, step, prediction.weights);
      begin = end;
    }
    live_.swap(next_);
    return prediction.next;
  }

  // Puts the continuations of a hypothesis among the best `width` of its sentence.
  void consider(std::size_t live, View logits, real log_sum, std::size_t width) {
    const double so_far = live_[live].log_probability;
    for (Index v = 0; v < logits.size(); ++v) {
      if (best_.size() == width) {
        const double least = best_.back().log_probability;
        v = kernels::first_above(
            v, logits.size(), logits.data, lowest_logit(least, so_far, log_sum));
        if (v == logits.size()) return;
      }
      const double p = so_far + static_cast<double>(logits.data[v] - log_sum);
      if (v == kBegin || (best_.size() == width && !(p > best_.back().log_probability))) continue;
      if (best_.size() == width) best_.pop_back();
      const auto place =
          std::upper_bound(best_.begin(), best_.end(), p, [](double x, const Candidate& c) {
            return x > c.log_probability;
          });
      best_.insert(place, {p, live, static_cast<Token>(v)});
    }
  }

  // The best continuations become hypotheses, finished or live.
  void go_on(Index sentence, Index step, Var weights) {
    const auto at = static_cast<std::size_t>(sentence);
    const Index length = positions_[at];
    const bool at_limit = step + 1 >= static_cast<Index>(settings_.max_ratio *
                                                         static_cast<double>(source_.lengths[at])) +
                                          settings_.max_extra;
    Arena& kept = tape_.scratch().arena();
    for (const Candidate& candidate : best_) {
      const LiveHypothesis& parent = live_[candidate.live];
      real* alignment = nullptr;
      if (weights) {
        alignment = kept.array_of<real>(length);
        std::copy_n(weights.value().data + parent.row * weights.shape()[1], length, alignment);
      }
      const auto* symbol = kept.make<BeamSymbol>(candidate.token, parent.last, alignment);
      if (candidate.token == kEnd || at_limit)
        finished_[static_cast<std::size_t>(sentence)].push_back(
            finish(*symbol, step + 1, candidate.log_probability, length));
      else
        next_.push_back({sentence, parent.row, candidate.log_probability, symbol});
    }
  }

  // The hypothesis of so many steps that ends in this symbol.
  Hypothesis finish(const BeamSymbol& last,
                    Index steps,
                    double log_probability,
                    Index length) const {
    Hypothesis hypothesis;
    hypothesis.log_probability = log_probability;
    hypothesis.score =
        log_probability / std::pow(static_cast<double>(steps), settings_.length_normalization);
    hypothesis.finished = last.token == kEnd;
    hypothesis.tokens.resize(static_cast<std::size_t>(steps - (hypothesis.finished ? 1 : 0)));
    if (last.alignment != nullptr)
      hypothesis.alignment.resize(static_cast<std::size_t>(steps * length));
    const BeamSymbol* symbol = &last;
    for (Index step = steps - 1; step >= 0; --step, symbol = symbol->parent) {
      if (symbol->token != kEnd) hypothesis.tokens[static_cast<std::size_t>(step)] = symbol->token;
      if (symbol->alignment != nullptr)
        std::copy_n(symbol->alignment, length, hypothesis.alignment.data() + step * length);
    }
    return hypothesis;
  }

  const Model& model_;
  Tape& tape_;
  const SourceBatch& source_;
  const BeamSettings& settings_;
  std::span<const Index> positions_;         // of the sentences' annotations
  std::vector<LiveHypothesis> live_, next_;  // sentence by sentence
  std::vector<Token> previous_;              // by row
  std::vector<Candidate> best_;
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
