#include "framework/train/updates.hpp"

namespace softalign {

Updates::Updates(
    const Spec& spec, const Dataset& data, Model& model, Workers& workers, Ranks& ranks)
    : spec_(spec),
      data_(data),
      model_(model),
      workers_(workers),
      ranks_(ranks),
      optimizer_(make_plugin<OptimizerKind>(spec.train.optimizer)),
      step_(model,
            *optimizer_,
            step_options(spec.train, static_cast<std::uint64_t>(spec.seed)),
            workers,
            ranks) {}

void Updates::plan(Index epoch, const std::function<bool()>& stop) {
  if (epoch_ == epoch) return;
  const auto seed = static_cast<std::uint64_t>(spec_.seed);
  if (data_.subword_dropout > 0) again_ = resegmented(data_, seed, epoch, workers_, stop);
  batches_ = {};  // frees the old plan before the next one is made
  batches_ = epoch_batches(sentences(), spec_.train.batch, seed, epoch);
  epoch_ = epoch;
}

TrainingStep::Parts Updates::parts(std::span<const Index> examples) const {
  BatchParts read = model_.batch_parts();
  read.links |= spec_.train.guided_alignment.has_value();
  TrainingStep::Parts parts;
  for (const auto& part : cut_into_parts(sentences(), examples, workers_.threads())) {
    parts.push_back(make_batch(sentences(), part, read));
    model_.place_links(parts.back());
  }
  return parts;
}

StepResult Updates::make(const UpdateOrder& order) {
  const Index groups = spec_.train.groups.value_or(1), own = groups / ranks_.count();
  std::vector<std::vector<TrainingStep::Parts>> all(usize(own));
  TrainingStep::Size size;
  for (Index i = order.first_batch; i < order.end_batch; ++i) {
    const std::span<const Index> batch = batches_[usize(i)];
    size.sentences += std::ssize(batch);
    for (const Index example : batch)
      size.tokens += Index{sentences().examples.row(usize(example)).target} + 1;
    const Batches cut = cut_into_parts(sentences(), batch, groups);
    for (Index k = 0; k < own; ++k)
      if (const Index group = ranks_.rank() * own + k; group < std::ssize(cut))
        all[usize(k)].push_back(parts(cut[usize(group)]));
  }
  const std::vector<TrainingStep::Group> of_rank(all.begin(), all.end());
  return step_.run_groups(of_rank, size, order.number, order.rate_factor, order.objective);
}

std::string Updates::what_is_not_finite(const UpdateOrder& order, const StepResult& result) {
  std::vector<TrainingStep::Parts> batches;
  for (Index i = order.first_batch; i < order.end_batch; ++i)
    batches.push_back(parts(batches_[usize(i)]));
  return softalign::what_is_not_finite(result, step_, model_, batches);
}

}  // namespace softalign
