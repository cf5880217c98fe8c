#include "framework/eval/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/left_to_right.hpp"
#include "framework/kernels/vector_math.hpp"

namespace softalign {

void SampleDistribution::set(std::span<const real> logits, bool may_end, bool may_be_unknown) {
  items_.clear();
  double largest = -std::numeric_limits<double>::infinity();
  for (Index v = 0; v < std::ssize(logits); ++v) {
    if (v == kBegin || (v == kEnd && !may_end) || (v == kUnknown && !may_be_unknown) ||
        logits[usize(v)] == kImpossible)
      continue;
    const auto logit = static_cast<double>(logits[usize(v)]);
    items_.push_back({logit, static_cast<Token>(v)});
    if (logit > largest) largest = logit;
  }
  for (Item& item : items_) {
    const auto p = static_cast<double>(
        vector_exp(static_cast<real>((item.p - largest) / settings_.temperature)));
    item.p = p > 0 ? p : 0;  // a diverged model yields NaN
  }
  if (settings_.top_k || settings_.top_p) cut_tail();
  normalise();
}

void SampleDistribution::cut_tail() {
  const auto before = [](const Item& a, const Item& b) {
    return a.p != b.p ? a.p > b.p : a.token < b.token;
  };
  if (settings_.top_k && *settings_.top_k < std::ssize(items_)) {
    const auto end = items_.begin() + *settings_.top_k;
    std::partial_sort(items_.begin(), end, items_.end(), before);
    items_.erase(end, items_.end());
  } else {
    std::sort(items_.begin(), items_.end(), before);
  }
  if (!settings_.top_p) return;
  normalise();
  double sum = 0;
  std::size_t kept = 0;
  while (kept < items_.size() && sum < *settings_.top_p) sum += items_[kept++].p;
  items_.resize(std::max<std::size_t>(kept, 1));
}

void SampleDistribution::normalise() {
  double sum = 0;
  for (const Item& item : items_) sum += item.p;
  if (!(sum > 0)) return;
  for (Item& item : items_) item.p /= sum;
}

Token SampleDistribution::draw(double u) const {
  for (const Item& item : items_) {
    u -= item.p;
    if (u < 0) return item.token;
  }
  // u exceeds the rounded sum: returns the last symbol that can be drawn.
  for (auto item = items_.rbegin(); item != items_.rend(); ++item)
    if (item->p > 0) return item->token;
  return items_.back().token;
}

double SampleDistribution::probability(Token token) const {
  for (const Item& item : items_)
    if (item.token == token) return item.p;
  return 0;
}

namespace {

// Adds a hypothesis, or counts it if an equal one exists.
void add(Hypothesis&& hypothesis, std::vector<Hypothesis>& all) {
  auto equal = std::ranges::find_if(all, [&](const Hypothesis& one) {
    return one.finished == hypothesis.finished && one.tokens == hypothesis.tokens &&
           one.replaced == hypothesis.replaced;
  });
  if (equal == all.end()) equal = all.insert(equal, std::move(hypothesis));
  ++equal->drawn;
}

}  // namespace

std::vector<std::vector<Hypothesis>> sample(const Scorer& scorer,
                                            Tape& tape,
                                            const SourceBatch& source,
                                            const SampleSettings& settings,
                                            const Demands& demands) {
  const RandomStream random(settings.seed, "search/sample");
  SampleDistribution distribution(settings);
  std::vector<std::vector<Hypothesis>> finished(usize(source.sentences));
  LeftToRight growing(scorer, tape, source, settings.samples, settings.samples, demands);
  for (; growing.alive(); growing.advance()) {
    growing.predict();
    const Index step = growing.step();
    for (std::size_t i = 0; i < growing.live().size(); ++i) {
      const LiveHypothesis& one = growing.live()[i];
      const auto sentence = usize(one.sentence);
      const Index length =
          settings.limits.length(source.lengths[sentence], growing.annotations(one.sentence));
      const std::span<const real> logits = growing.logits(i);
      const auto drawn = [&] {
        distribution.set(
            logits, step >= settings.limits.least_symbols(length), !demands.no_unknown);
        const auto draw =
            static_cast<std::uint64_t>(one.number) << 32 | static_cast<std::uint64_t>(step);
        const auto example = static_cast<std::uint64_t>(source.example(one.sentence));
        return distribution.draw(random.word(draw, example) * 0x1p-32);
      };
      const Index most = demands.most_steps(one.sentence, settings.limits.most_steps(length));
      const bool must_end = settings.limits.exact() && step + 1 == most;
      const std::optional<Token> forced = growing.forced(i);
      const Token token = forced ? *forced : must_end ? kEnd : drawn();
      const double p =
          one.log_probability + static_cast<double>(logits[usize(token)] - growing.log_sum(i));
      if (token != kEnd && step + 1 < most)
        growing.go_on(i, token, p);
      else
        add(growing.finish(i, token, p), finished[sentence]);
    }
  }
  for (auto& list : finished) put_best_first(list);
  return finished;
}

}  // namespace softalign
