#include "framework/inference/states.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/linear_algebra.hpp"
#include "framework/eval/diagnostic.hpp"
#include "framework/inference/evaluate_run.hpp"

namespace softalign {
namespace {

constexpr std::size_t kComponents = 3;

struct Gathered {
  Index width = 0;
  std::vector<double> numbers = {};
  std::vector<Index> sentences = {}, positions = {};
  std::vector<std::string> symbols = {};

  void add(std::span<const real> vector, Index sentence, Index position) {
    width = std::ssize(vector);
    numbers.insert(numbers.end(), vector.begin(), vector.end());
    sentences.push_back(sentence);
    positions.push_back(position);
  }
};

JsonObject json_of(const Gathered& all) {
  const std::array shape{all.sentences.size(), usize(all.width)};
  const PrincipalComponents found =
      principal_components(xt::adapt(all.numbers, shape), kComponents);
  JsonObject json = {{"width", all.width},
                     {"explained", found.explained},
                     {"sentence", all.sentences},
                     {"position", all.positions},
                     {"symbol", all.symbols},
                     {"components", JsonObject::array()}};
  for (std::size_t k = 0; k < found.explained.size(); ++k) {
    const xt::xtensor<double, 1> component = xt::view(found.vectors, xt::all(), k);
    json["components"].push_back(std::vector<double>(component.begin(), component.end()));
  }
  return json;
}

}  // namespace

PrincipalComponents principal_components(const xt::xtensor<double, 2>& vectors, std::size_t most) {
  const xt::xtensor<double, 2> centred = vectors - xt::mean(vectors, {0});
  if (!xt::all(xt::isfinite(centred))) throw DataError("a vector of the model is not finite");
  const auto [u, s, vt] = singular_values(centred);
  const std::size_t count = std::min(most, s.size());
  const double whole = xt::sum(xt::square(s))();
  PrincipalComponents found{{}, xt::zeros<double>({vectors.shape(0), count})};
  for (std::size_t k = 0; k < count; ++k) {
    found.explained.push_back(whole > 0 ? s(k) * s(k) / whole : 0);
    const xt::xtensor<double, 1> weights = xt::view(vt, k, xt::all());
    const double sign = weights(xt::argmax(xt::abs(weights))()) < 0 ? -1 : 1;
    xt::view(found.vectors, xt::all(), k) = sign * s(k) * xt::view(u, xt::all(), k);
  }
  return found;
}

JsonObject states_json(const TrainedRuns& runs, Index sentences) {
  const TrainedRun& run = runs.first();
  const Model& model = *run.model;
  const DataChanges changes = data_changes(run.record(), run.spec());
  const Dataset data = load_data(run, "test", changes.missing);
  Gathered annotations, readouts;
  for (const Index sentence : seen_sentences(data.test, sentences)) {
    const Batch batch = make_batch(data.test, {&sentence, 1}, model.batch_parts());
    Tape tape(Tape::Mode::infer);
    const Model::Taught taught = model.teach(tape, batch, {});
    const auto add = [&](Gathered& to, View values, Index count) {  // [1,S,D] or [T,1,D]
      const auto width = usize(values.shape[2]);
      for (Index i = 0; i < count; ++i)
        to.add({values.data + usize(i) * width, width}, sentence, i);
    };
    add(annotations, taught.source.annotations.averaged().value(), taught.positions[0]);
    add(readouts, taught.readout.value(), batch.target_steps);
    if (run.source) {
      annotations.symbols.resize(annotations.sentences.size());
      const auto begin = annotations.symbols.end() - taught.positions[0];
      for (Index i = 0; i < batch.source_lengths[0]; ++i)
        if (const Index at = model.encoder().position_of(i); at < taught.positions[0])
          begin[at] = run.source->symbol(batch.source[usize(i)]);
    }
    for (const Token token : batch.target_out)
      readouts.symbols.push_back(run.target->symbol(in_vocabulary(token, run.target->size())));
  }
  if (readouts.sentences.empty()) throw DataError("no test sentence has a reference");
  JsonObject json = {{"format", "softalign-states"},
                     {"run_id", run.run_id},
                     {"changed_data", changes.changed},
                     {"annotations", json_of(annotations)},
                     {"readouts", json_of(readouts)}};
  if (!run.state.empty()) json["state"] = run.state;
  return json;
}

}  // namespace softalign
