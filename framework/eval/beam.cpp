#include "framework/eval/beam.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/left_to_right.hpp"
#include "framework/kernels/cross_entropy.hpp"

namespace softalign {
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

class Beam {
 public:
  Beam(const Scorer& scorer, Tape& tape, const SourceBatch& source, const BeamSettings& settings)
      : source_(source),
        settings_(settings),
        growing_(scorer, tape, source, settings.width),
        finished_(usize(source.sentences)) {
    best_.reserve(usize(settings_.width));
  }

  std::vector<std::vector<Hypothesis>> run() {
    for (; growing_.alive(); growing_.advance()) {
      growing_.predict();
      for (std::size_t begin = 0; begin < growing_.live().size();) begin = choose(begin);
    }
    for (auto& list : finished_) put_best_first(list);
    return std::move(finished_);
  }

 private:
  // The best continuations of the hypotheses of one sentence, of which `begin` is the first. Returns
  // the first of the next sentence.
  std::size_t choose(std::size_t begin) {
    const std::span<const LiveHypothesis> live = growing_.live();
    const Index sentence = live[begin].sentence;
    const Index length =
        settings_.limits.length(source_.lengths[usize(sentence)], growing_.annotations(sentence));
    const bool may_end = growing_.step() >= settings_.limits.least_symbols(length);
    std::vector<Hypothesis>& finished = finished_[usize(sentence)];
    const std::size_t width = usize(settings_.width) - finished.size();
    best_.clear();
    std::size_t end = begin;
    for (; end < live.size() && live[end].sentence == sentence; ++end)
      consider(end, width, may_end);
    const bool at_limit = growing_.step() + 1 >= settings_.limits.most_steps(length);
    for (const Candidate& c : best_) {
      if (c.token != kEnd && !at_limit) {
        growing_.go_on(c.live, c.token, c.log_probability);
      } else {
        finished.push_back(growing_.finish(c.live, c.token, c.log_probability));
        finished.back().score = score(finished.back());
      }
    }
    return end;
  }

  // Puts the continuations of a hypothesis among the best `width` of its sentence.
  void consider(std::size_t live, std::size_t width, bool may_end) {
    const double so_far = growing_.live()[live].log_probability;
    const std::span<const real> logits = growing_.logits(live);
    const real log_sum = growing_.log_sum(live);
    const Index count = std::ssize(logits);
    for (Index v = 0; v < count; ++v) {
      if (best_.size() == width) {
        const double least = best_.back().log_probability;
        v = kernels::first_above(v, count, logits.data(), lowest_logit(least, so_far, log_sum));
        if (v == count) return;
      }
      const double p = so_far + static_cast<double>(logits[usize(v)] - log_sum);
      if (v == kBegin || (v == kEnd && !may_end) ||
          (best_.size() == width && !(p > best_.back().log_probability)))
        continue;
      if (best_.size() == width) best_.pop_back();
      const auto place =
          std::upper_bound(best_.begin(), best_.end(), p, [](double x, const Candidate& c) {
            return x > c.log_probability;
          });
      best_.insert(place, {p, live, static_cast<Token>(v)});
    }
  }

  // log P(Y|X) / lp(Y) + cp(X; Y) (Wu et al. 2016, equation 14).
  double score(const Hypothesis& hypothesis) const {
    const auto steps = static_cast<double>(hypothesis.steps());
    const double length = settings_.length_penalty == LengthPenalty::gnmt ? (5 + steps) / 6 : steps;
    double score = hypothesis.log_probability / exact::pow(length, settings_.length_normalization);
    if (settings_.coverage_penalty > 0)
      score += settings_.coverage_penalty *
               coverage(hypothesis.alignment,
                        std::ssize(hypothesis.alignment) / static_cast<Index>(hypothesis.steps()));
    return score;
  }

  const SourceBatch& source_;
  const BeamSettings& settings_;
  LeftToRight growing_;
  std::vector<Candidate> best_;
  std::vector<std::vector<Hypothesis>> finished_;
};

}  // namespace

double coverage(std::span<const float> alignment, Index positions) {
  double sum = 0;
  for (Index s = 0; s < positions; ++s) {
    double attended = 0;
    for (Index i = s; i < std::ssize(alignment); i += positions)
      attended += static_cast<double>(alignment[usize(i)]);
    sum += exact::log(std::clamp(attended, 1e-9, 1.0));
  }
  return sum;
}

std::vector<std::vector<Hypothesis>> beam_search(const Scorer& scorer,
                                                 Tape& tape,
                                                 const SourceBatch& source,
                                                 const BeamSettings& settings) {
  if (settings.coverage_penalty > 0 && !scorer.aligns())
    throw SpecError("coverage_penalty: the model has no attention, so there is no coverage");
  return Beam(scorer, tape, source, settings).run();
}

}  // namespace softalign
