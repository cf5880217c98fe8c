#include "framework/eval/left_to_right.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {
namespace {

Tape& emptied(Tape& tape) {
  tape.reset();
  tape.scratch().reset();
  return tape;
}

}  // namespace

LeftToRight::LeftToRight(const Scorer& scorer,
                         Tape& tape,
                         const SourceBatch& source,
                         Index width,
                         Index begin,
                         const Demands& demands)
    : scorer_(scorer),
      tape_(emptied(tape)),
      source_(source),
      demands_(demands),
      whole_(scorer.read(tape, source)),
      positions_(scorer.positions(whole_)),
      rows_(tape, whole_, source.sentences * width) {
  const auto capacity = usize(source.sentences * width);
  live_.reserve(capacity);
  next_.reserve(capacity);
  previous_.resize(capacity);
  std::vector<State> states;
  for (const Model::Source& whole : whole_) states.push_back(whole.state);
  for (Index b = 0; b < source.sentences; ++b)
    for (Index i = 0; i < begin; ++i) live_.push_back({b, b, 0, nullptr, i});
  rows_.place(live_, states);
  steps_ = tape_.mark();
}

LeftToRight::~LeftToRight() { emptied(tape_); }

void LeftToRight::predict() {
  tape_.rewind(steps_);
  for (const LiveHypothesis& live : live_)
    previous_[usize(live.row)] =
        live.last == nullptr ? kBegin : in_vocabulary(live.last->token, scorer_.target_symbols());
  prediction_ = scorer_.predict(tape_, rows_.sources(), std::span(previous_).first(live_.size()));
}

std::span<const real> LeftToRight::logits(std::size_t live) const {
  const View all = prediction_.logits;
  return {all.data + live_[live].row * all.shape[1], usize(all.shape[1])};
}

real LeftToRight::log_sum(std::size_t live) const {
  return prediction_.log_sums.data[live_[live].row];
}

const BeamSymbol* LeftToRight::append(const LiveHypothesis& to,
                                      Token token,
                                      double log_probability) {
  Arena& kept = tape_.scratch().arena();
  real* alignment = nullptr;
  if (const View weights = prediction_.weights) {
    const Index length = positions_[usize(to.sentence)];
    alignment = kept.array_of<real>(length);
    std::copy_n(weights.data + to.row * weights.shape[1], length, alignment);
  }
  return kept.make<BeamSymbol>(token, log_probability, to.last, alignment);
}

void LeftToRight::go_on(std::size_t live, Token token, double log_probability) {
  const LiveHypothesis& one = live_[live];
  const BeamSymbol* last = append(one, token, log_probability);
  next_.push_back({one.sentence, one.row, log_probability, last, one.number});
}

Hypothesis LeftToRight::finish(std::size_t live, Token token, double log_probability) {
  const Index steps = step_ + 1;
  const Index length = positions_[usize(live_[live].sentence)];
  const BeamSymbol* symbol = append(live_[live], token, log_probability);
  Hypothesis hypothesis;
  hypothesis.log_probability = hypothesis.score = log_probability;
  hypothesis.finished = token == kEnd;
  hypothesis.tokens.resize(usize(steps - (hypothesis.finished ? 1 : 0)));
  hypothesis.log_probabilities.resize(usize(steps));
  if (symbol->alignment != nullptr) hypothesis.alignment.resize(usize(steps * length));
  for (Index step = steps - 1; step >= 0; --step, symbol = symbol->parent) {
    const auto at = usize(step);
    if (symbol->token != kEnd) hypothesis.tokens[at] = symbol->token;
    hypothesis.log_probabilities[at] =
        symbol->log_probability - (step > 0 ? symbol->parent->log_probability : 0);
    if (symbol->alignment != nullptr)
      std::copy_n(symbol->alignment, length, hypothesis.alignment.data() + step * length);
  }
  const Index words = live_[live].sentence * source_.positions;
  for (std::size_t at = 0; at < hypothesis.tokens.size(); ++at)
    if (const Index s = hypothesis.tokens[at] - scorer_.target_symbols(); s >= 0) {
      hypothesis.replaced.push_back(
          {static_cast<Index>(at), s, std::string(source_.words[usize(words + s)])});
      hypothesis.tokens[at] = kUnknown;
    }
  return hypothesis;
}

void LeftToRight::advance() {
  rows_.place(next_, prediction_.next);
  live_.swap(next_);
  next_.clear();
  ++step_;
}

void put_best_first(std::vector<Hypothesis>& hypotheses) {
  std::stable_sort(
      hypotheses.begin(), hypotheses.end(), [](const Hypothesis& a, const Hypothesis& b) {
        return a.finished != b.finished ? a.finished : a.score > b.score;
      });
}

}  // namespace softalign
