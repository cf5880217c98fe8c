#include "framework/train/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "framework/record/bytes.hpp"
#include "framework/train/results.hpp"

namespace softalign {
namespace {

std::string bytes_of(const real* numbers, std::size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(real)};
}

void numbers_from(const Checkpoint& checkpoint,
                  const std::string& name,
                  real* numbers,
                  std::size_t count) {
  const auto found = checkpoint.blobs.find(name);
  if (found == checkpoint.blobs.end() || found->second.size() != count * sizeof(real))
    throw DataError(
        "checkpoint of update {}: '{}' is missing or of another size", checkpoint.update, name);
  std::memcpy(numbers, found->second.data(), found->second.size());
}

// " in training sentences 3, 8 and 6 others": positions among those that are kept, from 1.
std::string sentences_text(const std::vector<Index>& examples) {
  constexpr std::size_t kShown = 5;
  if (examples.empty()) return "";
  std::string text = examples.size() == 1 ? " in training sentence" : " in training sentences";
  for (std::size_t i = 0; i < std::min(examples.size(), kShown); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", examples[i] + 1);
  if (examples.size() > kShown) text += fmt::format(" and {} others", examples.size() - kShown);
  return text;
}

// The first parameter that is not finite, or else the one that has grown most.
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

Index updates_of(const Spec& spec, Index batches) {
  const Index all = spec.train.epochs * batches;
  return spec.train.max_updates ? std::min(all, *spec.train.max_updates) : all;
}

}  // namespace

Trainer::Trainer(const Spec& spec,
                 const Dataset& data,
                 Model& model,
                 Recorder& recorder,
                 Workers& workers,
                 Observer& observer,
                 Pruner* pruner)
    : spec_(spec),
      data_(data),
      model_(model),
      recorder_(recorder),
      workers_(workers),
      observer_(observer),
      pruner_(pruner),
      optimizer_(make_plugin<OptimizerKind>(spec.train.optimizer)),
      metrics_(all_metrics()) {
  if (spec.evaluate.search_dev)
    dev_search_ =
        make_plugin<SearchKind>(spec.evaluate.dev_search, static_cast<std::uint64_t>(spec.seed));
  step_ = std::make_unique<TrainingStep>(
      model, *optimizer_, spec.train.shards, spec.train.clip_norm, workers);
  progress_.epochs = spec.train.epochs;
}

void Trainer::run() {
  if (pruner_ && !position_.finished) pruned_ = pruner_->stopped_before(position_.update);
  while (!position_.finished && !pruned_) {
    train_epoch();
    try {
      const MetricTable dev = evaluate_dev();
      if (pruner_) pruned_ = pruner_->stop(position_.update, dev);
    } catch (const Interrupted&) {
      save();  // behind the epoch's last batch: a resumed run begins with this evaluation
      throw;
    }
    ++position_.epoch;
    position_.batch = 0;
    const bool patient =
        !spec_.train.early_stopping || best_.since < spec_.train.early_stopping->patience;
    const bool more = position_.epoch < spec_.train.epochs &&
                      (!spec_.train.max_updates || position_.update < *spec_.train.max_updates);
    position_.finished = !patient || !more;
    if (position_.finished) pruned_.reset();  // too late: it is done
    if (!patient) tell_early_stop();
    save();
  }
  if (pruned_) return;
  std::copy(best_.parameters.begin(), best_.parameters.end(), model_.parameters().values());
}

void Trainer::train_epoch() {
  const Batches batches = epoch_batches(
      data_.train, spec_.train.batch, static_cast<std::uint64_t>(spec_.seed), position_.epoch);
  const Index count = std::ssize(batches);
  progress_.epoch = position_.epoch + 1;
  progress_.updates = updates_of(spec_, count);
  recorder_.expect(progress_.updates);
  while (position_.batch < count) {
    if (spec_.train.max_updates && position_.update >= *spec_.train.max_updates) break;
    if (observer_.stop_requested()) {
      save();
      throw Interrupted("interrupted at update {}", position_.update);
    }
    one_update(batches[static_cast<std::size_t>(position_.batch)]);
  }
}

void Trainer::one_update(std::span<const Index> batch) {
  std::vector<Batch> shards;
  for (const auto& part : cut_into_shards(batch, spec_.train.shards))
    shards.push_back(make_batch(data_.train, part, model_.reads_links()));
  const StepResult result = step_->run(shards, position_.update + 1);
  if (!std::isfinite(result.nll) || !std::isfinite(result.gradient_norm))
    refuse_loss(result, shards);
  ++position_.update;
  ++position_.batch;

  const double tokens = static_cast<double>(result.tokens);
  progress_.update = position_.update;
  progress_.loss = result.nll / tokens;
  progress_.gradient_norm = result.gradient_norm;
  progress_.tokens = result.tokens;
  recorder_.scalars("train",
                    position_.update,
                    {{"loss", progress_.loss},
                     {"token_accuracy", 100 * static_cast<double>(result.correct) / tokens},
                     {"gradient_norm", result.gradient_norm},
                     {"learning_rate", optimizer_->learning_rate(position_.update)},
                     {"tokens", tokens}});
  observer_.update(progress_);
  if (position_.update % spec_.record.checkpoint_every == 0) save();
}

MetricTable Trainer::evaluate_dev() {
  EvaluationRequest request;
  request.search = dev_search_.get();
  request.batch = spec_.evaluate.batch;
  request.keep = spec_.record.snapshots;
  request.progress = [&](Index done, Index total) {
    observer_.stage("evaluating dev", done, total);
  };
  request.stop = [&] { return observer_.stop_requested(); };
  const EvaluatedSplit dev = evaluate(model_, data_.dev, *data_.target, request, workers_);
  const MetricTable table = summarize(dev.sentences, metrics_);
  NamedNumbers values;
  for (const std::string& name : table.metrics)
    if (const double value = table.at("all", name); std::isfinite(value))
      values.emplace_back(name, value);
  recorder_.scalars("dev", position_.update, values);
  record_alignments(recorder_, "cross_dev", position_.update, data_.dev, data_, dev.forced);
  if (!has_references(data_.dev))
    record_searched_alignments(
        recorder_, "cross_dev_search", position_.update, data_.dev, data_, dev);

  bool better = true;
  if (spec_.train.early_stopping) {
    const std::string name = spec_.train.early_stopping->metric.substr(4);  // behind "dev/"
    const double value = table.at("all", name);
    const auto metric = std::find_if(
        metrics_.begin(), metrics_.end(), [&](const NamedMetric& m) { return m.name == name; });
    const bool up = metric->metric->higher_is_better();
    better = best_.parameters.empty() || (up ? value > best_.value : value < best_.value);
    if (better) best_.value = value;
  }
  best_.since = better ? 0 : best_.since + 1;
  if (better) {
    best_.update = position_.update;
    const real* values_now = model_.parameters().values();
    best_.parameters.assign(values_now, values_now + model_.parameters().flat_size());
  }
  observer_.dev(progress_, table, better && spec_.train.early_stopping);
  return table;
}

// After the epoch's end; a dev evaluation belongs to each epoch.
void Trainer::tell_early_stop() {
  const std::string text =
      fmt::format("stopped at epoch {}: no better {} for {}; parameters of epoch {}",
                  position_.epoch,
                  spec_.train.early_stopping->metric,
                  best_.since == 1 ? "1 epoch" : fmt::format("{} epochs", best_.since),
                  position_.epoch - best_.since);
  recorder_.event(fmt::format("{} (update {})", text, best_.update));
  observer_.message(text);
}

void Trainer::save() {
  if (saved_at_ == position_.update && !position_.finished) return;
  Blobs blobs;
  const auto size = static_cast<std::size_t>(model_.parameters().flat_size());
  blobs["parameters"] = bytes_of(model_.parameters().values(), size);
  if (!best_.parameters.empty()) blobs["best"] = bytes_of(best_.parameters.data(), size);
  for (const TrainingStep::Buffer& buffer : step_->state())
    blobs["optimizer." + buffer.name] = bytes_of(buffer.numbers.data(), size);
  ByteWriter position;
  position.number(position_.epoch);
  position.number(position_.batch);
  position.number(position_.update);
  position.number<std::uint8_t>(position_.finished ? 1 : 0);
  position.number(best_.update);
  position.number(best_.value);
  position.number(best_.since);
  blobs["position"] = position.bytes();
  recorder_.checkpoint(position_.update, blobs);
  saved_at_ = position_.update;
}

void Trainer::restore(const Checkpoint& checkpoint) {
  const auto size = static_cast<std::size_t>(model_.parameters().flat_size());
  numbers_from(checkpoint, "parameters", model_.parameters().values(), size);
  if (checkpoint.blobs.contains("best")) {
    best_.parameters.resize(size);
    numbers_from(checkpoint, "best", best_.parameters.data(), size);
  }
  for (TrainingStep::Buffer& buffer : step_->state())
    numbers_from(checkpoint, "optimizer." + buffer.name, buffer.numbers.data(), size);
  ByteReader position(checkpoint.blobs.at("position"));
  position_.epoch = position.number<Index>();
  position_.batch = position.number<Index>();
  position_.update = position.number<Index>();
  position_.finished = position.number<std::uint8_t>() != 0;
  best_.update = position.number<Index>();
  best_.value = position.number<double>();
  best_.since = position.number<Index>();
  saved_at_ = position_.update;
}

void Trainer::refuse_loss(const StepResult& result, const std::vector<Batch>& shards) {
  std::string where;
  if (!std::isfinite(result.nll)) {
    where = fmt::format("the loss is {}{}; {}",
                        std::isnan(result.nll) ? "not a number" : "infinite",
                        sentences_text(TrainingStep::bad_examples(model_, shards)),
                        suspect(model_.parameters()));
  } else {
    where = fmt::format("the gradient of parameter '{}' is not finite", step_->bad_parameter());
  }
  const std::string kept =
      saved_at_ < 0 ? "no checkpoint was made yet"
                    : fmt::format("the last checkpoint, of update {}, is kept", saved_at_);
  const std::string text = fmt::format(
      "update {}: {}; {}; try a smaller train.optimizer.learning_rate or train.clip_norm",
      position_.update + 1,
      where,
      kept);
  recorder_.event(text);
  throw RunError("{}", text);
}

}  // namespace softalign
