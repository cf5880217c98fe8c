#include "framework/train/step.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

#include "framework/base/arena.hpp"
#include "framework/base/bytes.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

constexpr Index kUpdatedChunk = 1 << 14;  // numbers that are updated in one piece

Index chunks(Index numbers) { return (numbers + kUpdatedChunk - 1) / kUpdatedChunk; }

// Convert numbers to a message between ranks, and back.
template <class T>
std::string bytes_of(std::span<const T> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

template <class T>
std::span<const T> numbers_of(const std::string& bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

TrainingStep::TrainingStep(Model& model,
                           const Optimizer& optimizer,
                           const StepOptions& options,
                           Workers& workers,
                           Ranks& ranks)
    : model_(model),
      optimizer_(optimizer),
      options_(options),
      workers_(workers),
      ranks_(ranks),
      owned_(model.parameters(), ranks),
      dense_(owned_.by(slice_of(ranks, ranks.rank())).dense),
      tables_(owned_.by(slice_of(ranks, ranks.rank())).tables),
      weight_gradients_(model.parameters(), workers.threads()),
      table_gradients_(model.parameters()),
      sum_(model.parameters(), owned_, ranks) {
  for (std::size_t k = 0; k < optimizer.state().size(); ++k)
    state_.push_back(zeros_in_large_pages(dense_.size() + tables_.size()));
}

StepResult TrainingStep::run(Group batches,
                             Index number,
                             double rate_factor,
                             const Objective& objective) {
  Size size;
  for (const Parts& parts : batches)
    for (const Batch& part : parts) {
      size.sentences += part.rows;
      for (Index length : part.target_lengths) size.tokens += length;
    }
  return run_groups({&batches, 1}, size, number, rate_factor, objective);
}

StepResult TrainingStep::run_groups(std::span<const Group> groups,
                                    Size size,
                                    Index number,
                                    double rate_factor,
                                    const Objective& objective) {
  const ProductPrecision precision(options_.precision);
  const Index divisor = options_.loss == StepOptions::Loss::token      ? size.tokens
                        : options_.loss == StepOptions::Loss::sentence ? size.sentences
                                                                       : 1;
  Objective scaled = objective;
  scaled.factor *= real{1} / static_cast<real>(std::max<Index>(1, divisor));

  packs_.forget();
  results_.clear();
  for (const Group group : groups) {
    result_ = {};
    if (options_.groups > 1) sum_.prepare(weight_gradients_);
    weight_gradients_.clear(workers_);
    table_gradients_.clear();
    for (const Parts& parts : group) differentiate(parts, number, scaled);
    results_.push_back(result_);
    if (options_.groups > 1) sum_.add(weight_gradients_, table_gradients_, workers_);
  }
  add_results();
  result_.tokens = size.tokens;
  if (options_.groups > 1) sum_.finish(weight_gradients_, table_gradients_);
  const Squares squared = squares();
  result_.gradient_norm = std::sqrt(squared.layers + squared.tables);
  if (std::isfinite(result_.nll) && std::isfinite(result_.gradient_norm)) {
    update(number,
           rate_factor,
           options_.clip_embeddings ? result_.gradient_norm : std::sqrt(squared.layers));
    model_.after_update(result_.attention);
  }
  return result_;
}

// Runs forward up to the output layer, then its loss for all parts together, then backward.
void TrainingStep::differentiate(const Parts& batches, Index number, const Objective& objective) {
  const auto count = std::ssize(batches);
  while (std::ssize(parts_) < count) parts_.push_back(std::make_unique<PartOfBatch>(packs_));
  const std::span parts(parts_.data(), usize(count));
  workers_.run(count, [&](Index i) {
    parts[usize(i)]->forward(model_, batches[usize(i)], options_.seed, number, objective);
  });
  rows_.clear();
  for (const auto& part : parts) rows_.push_back(part->rows());
  const auto gradient = [this](const Parameter& parameter) {
    return parameter.trained ? weight_gradients_.data() + parameter.offset : nullptr;
  };
  model_.output_layer().loss(rows_, objective, gradient, workers_, scratch_);

  for (const auto& part : parts)
    for (Index b = 0; b < part->batch().rows; ++b) {
      result_.nll += part->nll(b);
      result_.correct += part->correct(b);
      result_.objective += static_cast<double>(sentence_loss(part->rows(), b, objective));
    }
  if (!std::isfinite(result_.nll)) return;
  workers_.run(count, [&](Index i) { parts[usize(i)]->backward(model_, objective); });
  for (const auto& part : parts) {
    const ExtraLoss& extra = part->extra();
    for (Index b = 0; extra.loss && b < part->batch().rows; ++b)
      result_.objective += static_cast<double>(extra.loss.value().data[b]);
    for (const Totals& totals : extra.totals)
      for (std::size_t k = 0; k < totals.size(); ++k) result_.attention[k] += totals[k];
  }
  tapes_.clear();
  for (const auto& part : parts) tapes_.push_back(&part->tape());
  weight_gradients_.add(tapes_, workers_);
  table_gradients_.add(tapes_, workers_);
}

// Adds the results of all groups of all ranks, in order.
void TrainingStep::add_results() {
  result_ = {};
  const auto add = [this](const StepResult& one) {
    result_.nll += one.nll;
    result_.objective += one.objective;
    result_.correct += one.correct;
    for (std::size_t k = 0; k < one.attention.size(); ++k) result_.attention[k] += one.attention[k];
  };
  if (ranks_.count() == 1) {
    for (const StepResult& one : results_) add(one);
    return;
  }
  for (const std::string& of_rank : gather_to_all(ranks_, bytes_of<StepResult>(results_)))
    for (const StepResult& one : numbers_of<StepResult>(of_rank)) add(one);
}

// Returns the sums of squares of the whole gradient, added over pieces of numbers and over rows of tables in order,
// no matter which ranks have them.
TrainingStep::Squares TrainingStep::squares() {
  const std::span<const double> pieces =
      weight_gradients_.squares(dense_.begin, dense_.end, workers_);
  const std::span<const std::vector<double>> of_tables =
      table_gradients_.squares(tables_.begin, tables_.end, workers_);
  Squares sum;
  if (ranks_.count() == 1) {
    for (const double square : pieces) sum.layers += square;
    for (const std::vector<double>& rows : of_tables)
      sum.tables += std::accumulate(rows.begin(), rows.end(), 0.0);
    return sum;
  }
  ByteWriter own;
  own.list(std::vector(pieces.begin(), pieces.end()));
  for (const std::vector<double>& rows : of_tables) own.list(rows);
  const std::vector<std::string> all = gather_to_all(ranks_, own.bytes());
  std::vector<std::string_view> slices(all.size());
  for (int rank = 0; rank < ranks_.count(); ++rank)
    slices[usize(slice_of(ranks_, rank))] = all[usize(rank)];
  std::vector<double> tables(of_tables.size());
  for (const std::string_view bytes : slices) {
    ByteReader reader(bytes);
    for (const double square : reader.list<double>()) sum.layers += square;
    for (double& table : tables)
      for (const double square : reader.list<double>()) table += square;
  }
  for (const double table : tables) sum.tables += table;
  return sum;
}

// Updates the rank's own parameters and receives the values of the others. norm: the norm for clipping.
void TrainingStep::update(Index number, double rate_factor, double norm) {
  const double most = options_.clip_norm;
  const real scale = most > 0 && norm > most ? static_cast<real>(most / norm) : real{1};
  const double decay = rate_factor * optimizer_.learning_rate() * optimizer_.weight_decay();
  const real kept = static_cast<real>(1 - decay);
  real* const parameters = model_.parameters().values();
  // Updates the numbers from `begin` on, whose state begins at `at`.
  const auto apply = [&](Index begin, Index at, Index count, const real* gradient) {
    real* const values = parameters + begin;
    if (decay > 0)
      for (Index i = 0; i < count; ++i) values[i] *= kept;
    real* state[8] = {};
    for (std::size_t k = 0; k < state_.size(); ++k) state[k] = state_[k].data() + at;
    optimizer_.apply(count, {number, scale, rate_factor}, gradient, values, {state, state_.size()});
  };
  const Index of_layers = chunks(dense_.size()), of_tables = chunks(tables_.size());
  workers_.run(of_layers + of_tables, [&](Index chunk) {
    if (chunk < of_layers) {
      const Index at = chunk * kUpdatedChunk, begin = dense_.begin + at;
      apply(
          begin, at, std::min(kUpdatedChunk, dense_.size() - at), weight_gradients_.data() + begin);
      return;
    }
    alignas(64) real gradient[kUpdatedChunk];
    const Index at = (chunk - of_layers) * kUpdatedChunk, begin = tables_.begin + at,
                count = std::min(kUpdatedChunk, tables_.size() - at);
    if (!table_gradients_.read(begin, count, gradient)) {
      if (decay == 0 && optimizer_.rests_without_gradient()) return;
      std::fill_n(gradient, count, real{0});
    }
    apply(begin, dense_.size() + at, count, gradient);
  });
  const std::span values(parameters, usize(model_.parameters().flat_size()));
  share_slices(ranks_, values, owned_.dense_bounds());
  share_slices(ranks_, values, owned_.table_bounds());
}

std::string TrainingStep::state(std::size_t k) const {
  std::string bytes;
  const auto put = [&](int rank, const real* own) {
    const auto [dense, tables] = owned_.by(slice_of(ranks_, rank));
    for (const auto& range : {dense, tables})
      std::memcpy(bytes.data() + usize(range.begin) * sizeof(real),
                  std::exchange(own, own + range.size()),
                  usize(range.size()) * sizeof(real));
  };
  if (ranks_.first()) bytes.resize(usize(model_.parameters().flat_size()) * sizeof(real));
  if (ranks_.count() == 1) {
    put(0, state_[k].data());
    return bytes;
  }
  const std::vector<std::string> all = gather(ranks_, bytes_of<real>(state_[k]));
  for (int rank = 0; rank < std::ssize(all); ++rank)
    put(rank, numbers_of<real>(all[usize(rank)]).data());
  return bytes;
}

void TrainingStep::set_state(std::size_t k, const std::vector<real>& numbers) {
  std::vector<std::string> slices;
  for (int rank = 0; ranks_.first() && rank < ranks_.count(); ++rank) {
    const auto [dense, tables] = owned_.by(slice_of(ranks_, rank));
    const std::span all(numbers);
    slices.push_back(bytes_of<real>(all.subspan(usize(dense.begin), usize(dense.size()))) +
                     bytes_of<real>(all.subspan(usize(tables.begin), usize(tables.size()))));
  }
  const std::string own = scatter(ranks_, slices);
  std::ranges::copy(numbers_of<real>(own), state_[k].begin());
}

std::string TrainingStep::bad_parameter() const {
  for (const Parameter& parameter : model_.parameters().all()) {
    std::vector<real> gradient(usize(parameter.shape.size()));
    if (!parameter.trained) continue;
    if (parameter.table)
      table_gradients_.read(parameter.offset, parameter.shape.size(), gradient.data());
    else
      std::copy_n(weight_gradients_.data() + parameter.offset, gradient.size(), gradient.begin());
    for (real number : gradient)
      if (!std::isfinite(number)) return parameter.name;
  }
  return "";
}

std::vector<Index> TrainingStep::bad_examples(Model& model, std::span<const Parts> batches) {
  std::vector<Index> bad;
  for (const Parts& parts : batches)
    for (const Batch& part : parts) {
      Tape tape(Tape::Mode::infer);
      const Model::Forward forward = model.forward(tape, part, 1);
      for (Index b = 0; b < part.rows; ++b) {
        double nll = 0;
        for (Index t = 0; t < part.target_steps; ++t)
          nll += static_cast<double>(forward.losses.nll[usize(b * part.target_steps + t)]);
        if (!std::isfinite(nll)) bad.push_back(part.example[usize(b)]);
      }
    }
  std::sort(bad.begin(), bad.end());
  return bad;
}

std::size_t TrainingStep::peak_bytes() const {
  std::size_t sum = packs_.peak_bytes() + scratch_.peak();
  for (const auto& part : parts_) sum += part->tape().peak_bytes();
  return sum;
}

void PartOfBatch::forward(const Model& model,
                          const Batch& batch,
                          std::uint64_t seed,
                          Index update,
                          const Objective& objective) {
  tape_.reset();
  batch_ = &batch;
  extra_ = {};
  noise_ = {seed, static_cast<std::uint64_t>(update), batch.example};
  tape_.set_noise(&noise_);
  taught_ = model.teach(tape_, batch, objective);
  rows_ = output_rows(model.output_layer(), taught_.output(), taught_.targets, objective);
}

void PartOfBatch::backward(const Model& model, const Objective& objective) {
  extra_ = model.extra_loss(tape_, taught_, *batch_, {rows_.nll, rows_.targets.size()}, objective);
  if (extra_.loss)
    tape_.backward(extra_.loss);
  else
    tape_.backward();
  tape_.set_noise(nullptr);
}

Index PartOfBatch::correct(Index sentence) const {
  Index count = 0;
  for (Index t = 0; t < batch_->target_lengths[usize(sentence)]; ++t) {
    const Index at = t * batch_->rows + sentence;
    count += rows_.best[at] == rows_.targets[usize(at)];
  }
  return count;
}

double PartOfBatch::nll(Index sentence) const {
  double sum = 0;
  for (Index t = 0; t < batch_->target_lengths[usize(sentence)]; ++t)
    sum += static_cast<double>(rows_.nll[t * batch_->rows + sentence]);
  return sum;
}

namespace {

// " in training sentences 3, 8 and 6 others": indices among the kept sentences, from 1.
std::string sentences_text(const std::vector<Index>& examples) {
  constexpr std::size_t kShown = 5;
  if (examples.empty()) return "";
  std::string text = examples.size() == 1 ? " in training sentence" : " in training sentences";
  for (std::size_t i = 0; i < std::min(examples.size(), kShown); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", examples[i] + 1);
  if (examples.size() > kShown) text += fmt::format(" and {} others", examples.size() - kShown);
  return text;
}

// Describes the first parameter that is not finite, or else the one with the largest absolute value.
std::string suspect(const ParameterStore& parameters) {
  const Parameter* largest = nullptr;
  real most = -1;
  for (const Parameter& parameter : parameters.all())
    for (const real x : parameter.value()) {
      if (!std::isfinite(x)) return fmt::format("parameter '{}' is not finite", parameter.name);
      if (std::abs(x) <= most) continue;
      most = std::abs(x);
      largest = &parameter;
    }
  return fmt::format("the largest parameter, '{}', is at {:.3g}", largest->name, most);
}

}  // namespace

std::string what_is_not_finite(const StepResult& result,
                               const TrainingStep& step,
                               Model& model,
                               std::span<const TrainingStep::Parts> batches) {
  if (std::isfinite(result.nll))
    return fmt::format("the gradient of parameter '{}' is not finite", step.bad_parameter());
  return fmt::format("the loss is {}{}; {}",
                     std::isnan(result.nll) ? "not a number" : "infinite",
                     sentences_text(TrainingStep::bad_examples(model, batches)),
                     suspect(model.parameters()));
}

}  // namespace softalign
