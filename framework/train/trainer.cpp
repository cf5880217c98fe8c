#include "framework/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "framework/base/bytes.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/batches.hpp"
#include "framework/record/journal/checkpoint.hpp"
#include "framework/train/results.hpp"
#include "framework/train/step.hpp"

namespace softalign {
namespace {

Index updates_of(const Spec& spec, Index batches) {
  const Index at_once = spec.train.accumulate.value_or(1);
  const Index all = spec.train.epochs * ((batches + at_once - 1) / at_once);
  return spec.train.max_updates ? std::min(all, *spec.train.max_updates) : all;
}

}  // namespace

Trainer::Trainer(const Spec& spec,
                 const Dataset& data,
                 Model& model,
                 Recorder& recorder,
                 Workers& workers,
                 Observer& observer,
                 Leader& leader,
                 Pruner* pruner)
    : spec_(spec),
      data_(data),
      model_(model),
      recorder_(recorder),
      workers_(workers),
      observer_(observer),
      pruner_(pruner),
      leader_(leader),
      updates_(spec, data, model, workers, leader.ranks()),
      schedule_(make_plugin<ScheduleKind>(spec.train.schedule.value_or(ScheduleChoice{}))),
      dev_(EvaluatedSentences::dev, spec, data, leader.ranks()),
      diagnostics_(spec, model, recorder, workers, observer),
      metrics_(spec.evaluate.measured()) {
  if (spec.train.average) {
    averaging_.emplace(*spec.train.average, model.parameters().flat_size());
    averaging_->begin(model.parameters().values());
  }
  progress_.epochs = spec.train.epochs;
}

void Trainer::run() {
  // Otherwise the dev evaluation that stops training has not been made yet.
  if (pruner_ && !state_.finished && state_.evaluated == state_.update)
    pruned_ = pruner_->stopped_before(state_.update);
  while (!state_.finished && !pruned_) {
    try {
      if (state_.update == 0) diagnostics_.look(Moment::start, data_.dev, 0);
      train_epoch();
    } catch (const Interrupted&) {
      save();  // a resumed run starts with the interrupted update or evaluation
      throw;
    }
  }
  if (pruned_) return;
  std::optional<std::vector<real>> averaged;
  if (averaging_) averaged = averaging_->for_test();
  const std::vector<real>& chosen = averaged ? *averaged : best_;
  std::copy(chosen.begin(), chosen.end(), model_.parameters().values());
}

void Trainer::train_epoch() {
  updates_.plan(state_.epoch, [&] { return observer_.stop_requested(); });
  const Index count = updates_.batches();
  progress_.epoch = state_.epoch + 1;
  progress_.updates = updates_of(spec_, count);
  recorder_.expect(progress_.updates);
  const Index before_last = progress_.updates - count;
  if (state_.epoch == 0 && state_.batch == 0 && before_last > 0 &&
      schedule_->factor({before_last, spec_.train.epochs - 1, 0, count}) == 0)
    observer_.message(fmt::format(
        "note: train.schedule ends long before training: the learning rate is 0 in its last epoch, "
        "{} updates, and maybe before; raise its updates",
        count));
  train_batches();
  if (state_.batch == count || !(state_.finished || pruned_)) end_epoch();
}

void Trainer::train_batches() {
  const Index count = updates_.batches();
  double tokens = 0, seconds = 0;
  while (!state_.finished && !pruned_) {
    if (evaluation_is_due()) {
      evaluate_dev();
      if (state_.batch < count) decide();
    } else if (state_.batch == count || reached_last_update()) {
      break;
    } else {
      if (observer_.stop_requested()) throw Interrupted("interrupted at update {}", state_.update);
      const auto begun = std::chrono::steady_clock::now();
      one_update();
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
      tokens += static_cast<double>(progress_.tokens);
    }
  }
  if (tokens > 0)  // "system" is not compared bit by bit
    recorder_.scalars(
        "system",
        state_.update,
        {{"tokens_per_s", tokens / seconds}, {"memory_mb", std::round(resident_bytes() / 1e6)}});
}

void Trainer::end_epoch() {
  const bool last = state_.epoch + 1 >= spec_.train.epochs || reached_last_update();
  if (spec_.evaluate.every ? last && state_.evaluated < state_.update : true) {
    // A longer run resumes from here, because it has no evaluation at this update.
    if (spec_.evaluate.every || reached_last_update()) save();
    evaluate_dev();
  }
  ++state_.epoch;
  state_.batch = 0;
  if (state_.evaluated == state_.update)
    decide();
  else
    save();
}

void Trainer::decide() {
  state_.finished = state_.ends(spec_.train);
  if (state_.finished) pruned_.reset();  // too late: training has ended
  if (state_.out_of_patience(spec_.train)) tell_early_stop();
  save();
}

bool Trainer::reached_last_update() const {
  return spec_.train.max_updates && state_.update >= *spec_.train.max_updates;
}

bool Trainer::evaluation_is_due() const {
  const auto& every = spec_.evaluate.every;
  return every && state_.evaluated < state_.update && state_.update % every->updates == 0;
}

// Updates by the next batch, or by as many as are accumulated.
void Trainer::one_update() {
  const Index count = updates_.batches(),
              end = std::min(count, state_.batch + spec_.train.accumulate.value_or(1));
  const UpdateOrder order{state_.epoch,
                          state_.batch,
                          end,
                          state_.update + 1,
                          schedule_->factor({state_.update + 1, state_.epoch, state_.batch, count}),
                          objective_at(spec_.train, state_.update, state_.epoch)};
  leader_.calls_for(order);
  const StepResult result = updates_.make(order);
  if (!std::isfinite(result.nll) || !std::isfinite(result.gradient_norm))
    refuse_loss(order, result);
  ++state_.update;
  state_.batch = end;
  if (averaging_) averaging_->updated(state_.update, model_.parameters().values(), workers_);
  record_update(result, order.rate_factor, order.objective);
  if (state_.update % spec_.record.checkpoint_every == 0) save();
}

void Trainer::record_update(const StepResult& result,
                            double rate_factor,
                            const Objective& objective) {
  const double tokens = static_cast<double>(result.tokens);
  progress_.update = state_.update;
  progress_.loss = result.nll / tokens;
  progress_.gradient_norm = result.gradient_norm;
  progress_.tokens = result.tokens;
  NamedNumbers numbers = {{"loss", progress_.loss},
                          {"token_accuracy", 100 * static_cast<double>(result.correct) / tokens},
                          {"gradient_norm", result.gradient_norm},
                          {"learning_rate", rate_factor * updates_.optimizer().learning_rate()},
                          {"tokens", tokens}};
  if (adds_to_loss(spec_.train)) numbers.emplace_back("objective", result.objective);
  if (spec_.train.scheduled_sampling) numbers.emplace_back("true_symbols", objective.truth);
  recorder_.scalars("train", state_.update, numbers);
  observer_.update(progress_);
}

// Evaluates with the averaged parameters in the model, if there are any.
void Trainer::evaluate_dev() {
  real* parameters = model_.parameters().values();
  std::optional<std::vector<real>> averaged;
  if (averaging_) averaged = averaging_->for_evaluation(parameters);
  const auto exchange = [&] {
    if (averaged) std::swap_ranges(averaged->begin(), averaged->end(), parameters);
  };
  exchange();
  MetricTable dev;
  try {
    dev = evaluate_parameters();
  } catch (...) {
    exchange();
    throw;
  }
  exchange();
  if (averaging_) averaging_->evaluated(dev, parameters);
  schedule_->evaluated(dev);
  state_.evaluated = state_.update;
  if (pruner_) pruned_ = pruner_->stop(state_.update, dev);
}

MetricTable Trainer::evaluate_parameters() {
  leader_.calls_for(EvaluatedSentences::dev, model_);
  const EvaluatedSplit dev = dev_.run(model_, workers_, observer_);
  const MetricTable table = summarize(dev.counts, metrics_);
  NamedNumbers values;
  for (const std::string& name : table.metrics)
    if (const double value = table.at("all", name); std::isfinite(value))
      values.emplace_back(name, value);
  recorder_.scalars("dev", state_.update, values);
  const ResultRecorder record(recorder_, model_, data_, data_.dev, state_.update);
  record.alignments("cross_dev", dev);
  if (!has_references(data_.dev)) record.searched_alignments("cross_dev_search", dev);
  diagnostics_.look(Moment::epoch, data_.dev, state_.update);

  bool better = true;
  if (spec_.train.early_stopping) {
    const WatchedMetric metric("train.early_stopping.metric", spec_.train.early_stopping->metric);
    const double value = metric.value(table);
    better = best_.empty() || metric.better(value, state_.best_value);
    if (better) state_.best_value = value;
  }
  state_.since_better = better ? 0 : state_.since_better + 1;
  if (better) {
    state_.best_update = state_.update;
    const real* values_now = model_.parameters().values();
    best_.assign(values_now, values_now + model_.parameters().flat_size());
  }
  observer_.dev(progress_, table, better && spec_.train.early_stopping);
  return table;
}

void Trainer::tell_early_stop() {
  const std::string text =
      spec_.evaluate.every
          ? fmt::format("stopped at update {}: no better {} for {}; parameters of update {}",
                        state_.update,
                        spec_.train.early_stopping->metric,
                        counted(state_.since_better, "dev evaluation"),
                        state_.best_update)
          : fmt::format("stopped at epoch {}: no better {} for {}; parameters of epoch {}",
                        state_.epoch,
                        spec_.train.early_stopping->metric,
                        counted(state_.since_better, "epoch"),
                        state_.epoch - state_.since_better);
  recorder_.event(fmt::format("{} (update {})", text, state_.best_update));
  observer_.message(text);
}

void Trainer::save() {
  if (saved_at_ == state_.update && !state_.finished) return;
  Blobs blobs;
  const auto size = usize(model_.parameters().flat_size());
  blobs["parameters"] = bytes_of(model_.parameters().values(), size);
  if (!best_.empty()) blobs["best"] = bytes_of(best_.data(), size);
  const std::vector<std::string> buffers = updates_.optimizer().state();
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    leader_.calls_for_state(k);
    blobs["optimizer." + buffers[k]] = updates_.step().state(k);
  }
  if (averaging_) averaging_->save(blobs);
  if (const std::vector<double> state = schedule_->state(); !state.empty()) {
    ByteWriter writer;
    writer.list(state);
    blobs["schedule"] = writer.bytes();
  }
  blobs["position"] = state_.bytes();
  recorder_.checkpoint(state_.update, blobs, state_.best_update);
  saved_at_ = state_.update;
}

void Trainer::restore(const Checkpoint& checkpoint) {
  const auto size = usize(model_.parameters().flat_size());
  numbers_from(checkpoint, "parameters", model_.parameters().values(), size);
  if (checkpoint.blobs.contains("best")) {
    best_.resize(size);
    numbers_from(checkpoint, "best", best_.data(), size);
  }
  leader_.sets_parameters(model_);
  const std::vector<std::string> buffers = updates_.optimizer().state();
  std::vector<real> numbers(size);
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    numbers_from(checkpoint, "optimizer." + buffers[k], numbers.data(), size);
    leader_.sets_state(k);
    updates_.step().set_state(k, numbers);
  }
  if (averaging_) averaging_->restore(checkpoint);
  if (!schedule_->state().empty()) schedule_->restore(list_of(checkpoint, "schedule"));
  state_ = TrainingState::of(checkpoint);
  // If the checkpoint is from a run of another length, training may be complete at this state.
  state_.finished =
      state_.update > 0 && state_.evaluated == state_.update && state_.ends(spec_.train);
  saved_at_ = state_.update;
}

void Trainer::refuse_loss(const UpdateOrder& order, const StepResult& result) {
  const std::string kept =
      saved_at_ < 0 ? "there is no checkpoint yet"
                    : fmt::format("the last checkpoint, of update {}, is kept", saved_at_);
  const std::string text = fmt::format(
      "update {}: {}; {}; try a smaller train.optimizer.learning_rate or train.clip_norm",
      order.number,
      updates_.what_is_not_finite(order, result),
      kept);
  recorder_.event(text);
  throw RunError("{}", text);
}

bool TrainingState::out_of_patience(const TrainOptions& options) const {
  return options.early_stopping && since_better >= options.early_stopping->patience;
}

bool TrainingState::ends(const TrainOptions& options) const {
  return out_of_patience(options) || epoch >= options.epochs ||
         (options.max_updates && update >= *options.max_updates);
}

std::string TrainingState::bytes() const {
  ByteWriter out;
  out.number(epoch);
  out.number(batch);
  out.number(update);
  out.number(evaluated);
  out.number<std::uint8_t>(finished ? 1 : 0);
  out.number(best_update);
  out.number(best_value);
  out.number(since_better);
  return out.bytes();
}

TrainingState TrainingState::of(const Checkpoint& checkpoint) {
  const auto state = read_blob(checkpoint, "position", [](ByteReader& in) {
    TrainingState read;
    read.epoch = in.number<Index>();
    read.batch = in.number<Index>();
    read.update = in.number<Index>();
    read.evaluated = in.number<Index>();
    read.finished = in.number<std::uint8_t>() != 0;
    read.best_update = in.number<Index>();
    read.best_value = in.number<double>();
    read.since_better = in.number<Index>();
    return read;
  });
  const bool possible = state.epoch >= 0 && state.epoch <= kMostEpochs && state.batch >= 0 &&
                        state.update == checkpoint.update && state.update >= 0 &&
                        state.evaluated >= 0 && state.evaluated <= state.update &&
                        state.since_better >= 0 && state.since_better <= kMostUpdates;
  if (!possible)
    throw DataError("checkpoint of update {}: 'position' cannot occur in this training",
                    checkpoint.update);
  return state;
}

}  // namespace softalign
