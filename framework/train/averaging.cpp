#include "framework/train/averaging.hpp"

#include <algorithm>

#include "framework/base/bytes.hpp"
#include "framework/base/types.hpp"
#include "framework/record/journal/checkpoint.hpp"

namespace softalign {

Averaging::Averaging(const AverageOptions& options, Index size)
    : options_(options), size_(usize(size)), metric_("train.average.metric", options.metric) {}

void Averaging::begin(const real* parameters) {
  if (options_.type == "exponential") moving_.assign(parameters, parameters + size_);
}

// The decay grows with the updates, so that the average forgets the initial values soon.
void Averaging::updated(Index update, const real* parameters, Workers& workers) {
  if (options_.type == "last" && options_.every && update % *options_.every == 0)
    keep(0, parameters);
  if (options_.type != "exponential") return;
  const double made = static_cast<double>(update);
  const real share = static_cast<real>(1 - std::min(options_.decay, (1 + made) / (10 + made)));
  constexpr Index kAveragedChunk = 1 << 16;
  const Index size = static_cast<Index>(size_);
  workers.run((size + kAveragedChunk - 1) / kAveragedChunk, [&](Index chunk) {
    const Index end = std::min(size, (chunk + 1) * kAveragedChunk);
    for (Index i = chunk * kAveragedChunk; i < end; ++i)
      moving_[usize(i)] += share * (parameters[i] - moving_[usize(i)]);
  });
}

std::optional<Averaging::Numbers> Averaging::for_evaluation(const real* parameters) const {
  if (options_.type == "exponential") return moving_;
  if (options_.type == "best") return std::nullopt;
  if (options_.every) {
    if (epochs_.empty()) return std::nullopt;
    return mean_of_epochs();
  }
  std::vector<const real*> of;
  const auto most = usize(options_.epochs - 1);
  for (std::size_t i = epochs_.size() - std::min(most, epochs_.size()); i < epochs_.size(); ++i)
    of.push_back(epochs_[i].parameters.data());
  of.push_back(parameters);
  return mean(of);
}

void Averaging::evaluated(const MetricTable& dev, const real* parameters) {
  const bool best = options_.type == "best";
  if (best || (options_.type == "last" && !options_.every))
    keep(best ? metric_.value(dev) : 0, parameters);
}

// Keeps at most options_.epochs epochs, the last or the best; of equally good ones, the older.
void Averaging::keep(double value, const real* parameters) {
  epochs_.push_back({value, Numbers(parameters, parameters + size_)});
  if (std::ssize(epochs_) <= options_.epochs) return;
  auto leaves = epochs_.begin();
  if (options_.type == "best")
    for (auto epoch = epochs_.begin(); epoch != epochs_.end(); ++epoch)
      if (!metric_.better(epoch->value, leaves->value)) leaves = epoch;
  epochs_.erase(leaves);
}

std::optional<Averaging::Numbers> Averaging::for_test() const {
  if (options_.type != "best") return std::nullopt;
  return mean_of_epochs();
}

Averaging::Numbers Averaging::mean_of_epochs() const {
  std::vector<const real*> of;
  for (const Epoch& epoch : epochs_) of.push_back(epoch.parameters.data());
  return mean(of);
}

Averaging::Numbers Averaging::mean(const std::vector<const real*>& of) const {
  Numbers result(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    double sum = 0;
    for (const real* numbers : of) sum += static_cast<double>(numbers[i]);
    result[i] = static_cast<real>(sum / static_cast<double>(of.size()));
  }
  return result;
}

void Averaging::save(Blobs& blobs) const {
  if (!moving_.empty()) blobs["average.moving"] = bytes_of(moving_.data(), size_);
  std::vector<double> values;
  for (const Epoch& epoch : epochs_) {
    blobs[fmt::format("average.epoch-{}", values.size())] =
        bytes_of(epoch.parameters.data(), size_);
    values.push_back(epoch.value);
  }
  ByteWriter writer;
  writer.list(values);
  blobs["average"] = writer.bytes();
}

void Averaging::restore(const Checkpoint& checkpoint) {
  if (options_.type == "exponential") {
    moving_.resize(size_);
    numbers_from(checkpoint, "average.moving", moving_.data(), size_);
  }
  epochs_.clear();
  const std::vector<double> values = list_of(checkpoint, "average");
  if (std::ssize(values) > options_.epochs)
    throw DataError("checkpoint of update {}: 'average' has {} epochs, but {} are averaged",
                    checkpoint.update,
                    values.size(),
                    options_.epochs);
  for (const double value : values) {
    epochs_.push_back({value, Numbers(size_)});
    numbers_from(checkpoint,
                 fmt::format("average.epoch-{}", epochs_.size() - 1),
                 epochs_.back().parameters.data(),
                 size_);
  }
}

}  // namespace softalign
