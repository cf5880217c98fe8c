#include "framework/eval/beam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/left_to_right.hpp"
#include "framework/eval/phrases.hpp"
#include "framework/kernels/cross_entropy.hpp"

namespace softalign {
namespace {

struct Candidate {
  double log_probability;
  std::size_t live;
  Token token;
  Index missing = 0;  // phrase symbols
};

// Returns a logit such that no candidate with this or a smaller one has a log probability above `least`. It is
// slightly below the exact bound, because the log probability is a rounded sum.
real lowest_logit(double least, double log_probability, double log_sum) {
  const double slack = 1e-6 * (std::abs(least) + std::abs(log_probability) + std::abs(log_sum));
  return static_cast<real>(least - log_probability + log_sum - slack);
}

class Beam {
 public:
  Beam(const Scorer& scorer,
       Tape& tape,
       const SourceBatch& source,
       const BeamSettings& settings,
       const Demands& demands)
      : source_(source),
        settings_(settings),
        demands_(demands),
        growing_(scorer, tape, source, settings.width, 1, demands),
        progress_(demands, source.sentences, source.sentences * settings.width),
        finished_(usize(source.sentences)) {
    best_.reserve(usize(settings_.width));
    if (progress_.most_phrases() == 0) return;
    pool_.reserve(usize(settings_.width * (2 + progress_.most_phrases())));
    banks_.reserve(usize(progress_.most_symbols() + 1));
    slots_.reserve(usize(progress_.most_symbols() + 1));
  }

  std::vector<std::vector<Hypothesis>> run() {
    for (; growing_.alive(); growing_.advance(), progress_.advance()) {
      growing_.predict();
      for (std::size_t begin = 0; begin < growing_.live().size();) begin = choose(begin);
    }
    for (auto& list : finished_) put_best_first(list);
    return std::move(finished_);
  }

 private:
  // Chooses the best continuations of the hypotheses of one sentence, whose first one is `begin`. Returns
  // the first hypothesis of the next sentence.
  std::size_t choose(std::size_t begin) {
    const std::span<const LiveHypothesis> live = growing_.live();
    const Index sentence = live[begin].sentence;
    const Index length =
        settings_.limits.length(source_.lengths[usize(sentence)], growing_.annotations(sentence));
    const bool may_end = growing_.step() >= settings_.limits.least_symbols(length);
    const Index steps_after =
        demands_.most_steps(sentence, settings_.limits.most_steps(length)) - growing_.step() - 1;
    const bool must_end = settings_.limits.exact() && steps_after == 0;
    std::vector<Hypothesis>& finished = finished_[usize(sentence)];
    const std::size_t width = usize(settings_.width) - finished.size();
    best_.clear();
    std::size_t end = begin;
    while (end < live.size() && live[end].sentence == sentence) ++end;
    if (progress_.wants(sentence) && !growing_.forced(begin))
      share(begin, end, width, may_end, steps_after - (settings_.limits.exact() ? 1 : 0));
    else
      for (std::size_t i = begin; i < end; ++i) consider(i, width, may_end, must_end);
    for (const Candidate& c : best_) {
      if (c.token != kEnd && steps_after > 0) {
        growing_.go_on(c.live, c.token, c.log_probability);
        progress_.go_on(sentence, c.live, c.token);
      } else {
        finished.push_back(growing_.finish(c.live, c.token, c.log_probability));
        finished.back().score = score(finished.back());
      }
    }
    return end;
  }

  double after(std::size_t live, Token token) const {
    const real logit = growing_.logits(live)[usize(token)];
    return growing_.live()[live].log_probability +
           static_cast<double>(logit - growing_.log_sum(live));
  }

  void consider(std::size_t live, std::size_t width, bool may_end, bool must_end) {
    if (const std::optional<Token> forced = growing_.forced(live))
      best_.push_back({after(live, *forced), live, *forced});
    else
      consider(live, width, [&](Token token) {
        return growing_.allows(live, token) && (token == kEnd ? may_end : !must_end);
      });
  }

  // Merges the allowed continuations of a hypothesis into the best `width` of its sentence.
  template <class Allowed>
  void consider(std::size_t live, std::size_t width, const Allowed& allowed) {
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
      if ((best_.size() == width && !(p > best_.back().log_probability)) ||
          !allowed(static_cast<Token>(v)))
        continue;
      if (best_.size() == width) best_.pop_back();
      const auto place =
          std::upper_bound(best_.begin(), best_.end(), p, [](double x, const Candidate& c) {
            return x > c.log_probability;
          });
      best_.insert(place, {p, live, static_cast<Token>(v)});
    }
  }

  // Chooses the next beam of a sentence with phrases (Post and Vilar 2018, section 3 and algorithm 2). Candidates are
  // the best continuations of all hypotheses, the best one of each, and those that continue a phrase. The beam is
  // divided among banks of equal progress. A hypothesis may end only when it contains all phrases; until then,
  // enough steps are reserved for the missing symbols.
  void share(
      std::size_t begin, std::size_t end, std::size_t width, bool may_end, Index steps_after) {
    const Index sentence = growing_.live()[begin].sentence;
    const PhraseSet& phrases = progress_.of(sentence);
    const auto missing = [&](std::size_t live, Token token) {
      return phrases.missing_after(progress_.at(sentence, live), token);
    };
    const auto add = [&](std::size_t live, Token token) {
      const double p = after(live, token);  // NaN of a diverged model could not be sorted
      pool_.push_back({p == p ? p : -std::numeric_limits<double>::infinity(),
                       live,
                       token,
                       missing(live, token)});
    };
    const auto consider_of = [&](std::size_t live, std::size_t most) {
      consider(live, most, [&](Token token) {
        if (!growing_.allows(live, token)) return false;
        if (token != kEnd) return missing(live, token) <= steps_after;
        return may_end && phrases.missing(progress_.at(sentence, live)) == 0;
      });
    };
    pool_.clear();
    for (std::size_t live = begin; live < end; ++live) consider_of(live, width);
    for (const Candidate& c : best_) add(c.live, c.token);
    for (std::size_t live = begin; live < end; ++live) {
      best_.clear();
      consider_of(live, 1);
      for (const Candidate& c : best_) add(c.live, c.token);
      const std::span<const Index> progress = progress_.at(sentence, live);
      for (Index phrase = 0; phrase < phrases.count(); ++phrase)
        if (const Token next = phrases.next(phrase, progress);
            next >= 0 && missing(live, next) <= steps_after)
          add(live, next);
    }
    const auto key = [](const Candidate& c) {
      return std::tuple(c.missing, -c.log_probability, c.live, c.token);
    };
    std::ranges::sort(pool_, {}, key);  // equal candidates become neighbours
    const auto equal = [](const Candidate& a, const Candidate& b) {
      return a.live == b.live && a.token == b.token;
    };
    pool_.erase(std::unique(pool_.begin(), pool_.end(), equal), pool_.end());
    banks_.assign(usize(phrases.symbols() + 1), 0);
    slots_.resize(banks_.size());
    for (const Candidate& c : pool_) ++banks_[usize(phrases.symbols() - c.missing)];
    allocate_banks(static_cast<Index>(width), banks_, slots_);
    best_.clear();
    for (const Candidate& c : pool_) {
      Index& slots = slots_[usize(phrases.symbols() - c.missing)];
      if (slots > 0) best_.push_back(c);
      slots = std::max<Index>(0, slots - 1);
    }
    std::ranges::sort(best_, {}, [](const Candidate& c) {
      return std::tuple(-c.log_probability, c.live, c.token);
    });
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
  const Demands& demands_;
  LeftToRight growing_;
  PhraseProgress progress_;
  std::vector<Candidate> best_, pool_;
  std::vector<Index> banks_, slots_;  // of the current sentence in `share`
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
                                                 const BeamSettings& settings,
                                                 const Demands& demands) {
  if (settings.coverage_penalty > 0 && !scorer.aligns())
    throw SpecError("coverage_penalty: the model has no attention, so there is no coverage");
  return Beam(scorer, tape, source, settings, demands).run();
}

namespace {

Shape with_first(const Shape& s, Index size) {
  if (s.rank() == 1) return {size};
  if (s.rank() == 2) return {size, s[1]};
  if (s.rank() == 3) return {size, s[1], s[2]};
  return {size, s[1], s[2], s[3]};
}

void copy_row(View from, Index from_row, View to, Index to_row) {
  const Index each = from.size() / from.shape[0];
  std::copy_n(from.data + from_row * each, each, to.data + to_row * each);
}

}  // namespace

BeamRows::BeamRows(Tape& tape, std::vector<Model::Source> whole, Index capacity)
    : tape_(tape),
      capacity_(capacity),
      whole_(std::move(whole)),
      now_(whole_.size()),
      held_(tape.arena().array_of<Index>(capacity)),
      waiting_(tape.arena().array_of<Index>(std::ssize(whole_.front().memory.lengths))) {
  std::fill_n(held_, capacity, -1);
  for (const Model::Source& one : whole_) arrays_.push_back(arrays_of(one));
}

BeamRows::Arrays BeamRows::arrays_of(const Model::Source& whole) const {
  return {rows_like(whole.memory.keys),
          rows_like(whole.memory.values),
          tape_.arena().array_of<Index>(capacity_),
          std::vector<Buffer>(whole.state.size()),
          std::vector<Buffer>(whole.state.size())};
}

View BeamRows::rows_like(Var array) const {
  return array ? tape_.allocate(with_first(array.shape(), capacity_)) : View();
}

// Gives a buffer the shape of an array with `capacity` rows. A buffer that is too small is abandoned on the second
// tape; sizes double, so all abandoned buffers together are no larger than the last one.
void BeamRows::shape_like(View array, Buffer& buffer) const {
  const Shape shape = with_first(array.shape, capacity_);
  if (!buffer.rows || buffer.room < shape.size()) {
    buffer.room = std::max(shape.size(), 2 * buffer.room);
    buffer.rows.data = tape_.scratch().allocate({buffer.room}).data;
  }
  buffer.rows.shape = shape;
}

void BeamRows::place(std::span<LiveHypothesis> live, std::span<const State> states) {
  count_ = std::ssize(live);
  assign_rows(live);
  for (std::size_t m = 0; m < arrays_.size(); ++m) {
    Arrays& arrays = arrays_[m];
    arrays.step = states[m].step;
    for (std::size_t k = 0; k < arrays.state.size(); ++k) {
      const View from = states[m][k].value();
      shape_like(from, arrays.spare[k]);
      for (const LiveHypothesis& one : live)
        copy_row(from, one.from, arrays.spare[k].rows, one.row);
    }
    arrays.state.swap(arrays.spare);
  }
}

void BeamRows::assign_rows(std::span<LiveHypothesis> live) {
  std::fill_n(waiting_, whole_.front().memory.lengths.size(), count_);
  for (Index i = count_ - 1; i >= 0; --i) {
    live[usize(i)].row = -1;
    waiting_[live[usize(i)].sentence] = i;
  }
  for (Index row = 0; row < count_; ++row) {
    if (held_[row] < 0) continue;
    const auto i = usize(waiting_[held_[row]]);
    if (i < live.size() && live[i].sentence == held_[row]) {
      live[i].row = row;
      ++waiting_[held_[row]];
    } else {
      held_[row] = -1;
    }
  }
  Index free = 0;
  for (LiveHypothesis& one : live) {
    if (one.row >= 0) continue;
    while (held_[free] >= 0) ++free;
    one.row = free;
    held_[free] = one.sentence;
    copy_memory(one.sentence, free);
  }
}

void BeamRows::copy_memory(Index sentence, Index row) {
  for (std::size_t m = 0; m < arrays_.size(); ++m) {
    const AttentionMemory& memory = whole_[m].memory;
    Arrays& arrays = arrays_[m];
    arrays.lengths[row] = memory.lengths[usize(sentence)];
    if (arrays.keys) copy_row(memory.keys.value(), sentence, arrays.keys, row);
    if (arrays.values) copy_row(memory.values.value(), sentence, arrays.values, row);
  }
}

std::span<const Model::Source> BeamRows::sources() {
  for (std::size_t m = 0; m < arrays_.size(); ++m) {
    const Arrays& arrays = arrays_[m];
    AttentionMemory& memory = now_[m].memory;
    memory =
        Memory{first_rows(arrays.keys), first_rows(arrays.values), {arrays.lengths, usize(count_)}};
    memory.source = whole_[m].memory.source;
    memory.rows = {held_, usize(count_)};
    now_[m].state = {};
    now_[m].state.step = arrays.step;
    for (const Buffer& buffer : arrays.state) now_[m].state.push(first_rows(buffer.rows));
  }
  return now_;
}

Var BeamRows::first_rows(View array) const {
  return array ? tape_.constant({array.data, with_first(array.shape, count_)}) : Var();
}

}  // namespace softalign
