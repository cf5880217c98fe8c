#include "framework/seq/model.hpp"

namespace softalign {

Model::Model(const ModelOptions& options,
             Index source_symbols,
             Index target_symbols,
             std::uint64_t seed)
    : target_symbols_(target_symbols) {
  Parameters root(store_);
  source_embedding_ =
      std::make_unique<Embedding>(root / "source", "embedding", source_symbols, options.embedding);
  encoder_ = make_plugin<EncoderKind>(options.encoder, root / "encoder", options.embedding);
  target_embedding_ =
      std::make_unique<Embedding>(root / "target", "embedding", target_symbols, options.embedding);
  const Index annotation = encoder_->size();
  decoder_ = make_plugin<DecoderKind>(
      options.decoder,
      root / "decoder",
      DecoderSizes{options.embedding,
                   annotation,
                   encoder_->start_size(),
                   [&](const Parameters& p, Index query) {
                     return make_plugin<AttentionKind>(
                         options.attention, p, AttentionSizes{query, annotation});
                   }});
  projection_ = std::make_unique<Linear>(
      root, "projection", decoder_->readout_size(), target_symbols, Linear::Bias::yes);
  store_.allocate(seed);
}

Model::Source Model::read(Tape& tape,
                          std::span<const Token> source,
                          Index sentences,
                          Index positions,
                          std::span<const Index> lengths) const {
  Var embedded = (*source_embedding_)(tape, source, {sentences, positions});
  const Annotations annotations = encoder_->encode(embedded, lengths);
  return {decoder_->prepare(annotations), decoder_->start(annotations)};
}

Model::Forward Model::forward(Tape& tape, const Batch& batch, real factor) const {
  Source source = read(tape, batch.source, batch.rows, batch.source_steps, batch.source_lengths);
  Var embedded = (*target_embedding_)(tape, batch.target_in, {batch.rows, batch.target_steps});
  Var inputs = decoder_->inputs(embedded);

  Forward result;
  Var* outputs = tape.arena().array_of<Var>(batch.target_steps);
  Var* weights = tape.arena().array_of<Var>(batch.target_steps);
  std::size_t steps = 0;
  for (Index t = 0; t < batch.target_steps; ++t) {
    DecoderStep step = decoder_->step(source.memory, source.state, select_step(inputs, t));
    source.state = step.next;
    outputs[steps] = step.output;
    weights[steps++] = step.weights;
  }
  if (aligns()) result.weights = {weights, steps};
  Var features = decoder_->readout(stack_steps({outputs, steps}), embedded);
  const Index rows = batch.rows * batch.target_steps;
  Token* targets = tape.arena().array_of<Token>(rows);
  for (Index b = 0; b < batch.rows; ++b)
    for (Index t = 0; t < batch.target_steps; ++t) {
      const auto i = static_cast<std::size_t>(b * batch.target_steps + t);
      targets[i] = t < batch.target_lengths[static_cast<std::size_t>(b)] ? batch.target_out[i] : -1;
    }
  result.losses = projected_cross_entropy(features,
                                          projection_->weight(tape),
                                          projection_->bias(tape),
                                          {targets, static_cast<std::size_t>(rows)},
                                          factor);
  return result;
}

Model::Prediction Model::predict(Tape& tape,
                                 const Source& source,
                                 std::span<const Token> previous) const {
  Var embedded = (*target_embedding_)(tape, previous, {static_cast<Index>(previous.size())});
  DecoderStep step = decoder_->step(source.memory, source.state, decoder_->inputs(embedded));
  Var features = decoder_->readout(step.output, embedded);
  return {step.next, (*projection_)(features), step.weights};
}

}  // namespace softalign
