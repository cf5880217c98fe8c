#include "framework/seq/model.hpp"

namespace softalign {

Model::Model(const ModelOptions& options,
             Index source_symbols,
             Index target_symbols,
             std::uint64_t seed)
    : target_symbols_(target_symbols) {
  Parameters root(store_);
  encoder_ = make_plugin<EncoderKind>(options.encoder, root / "encoder", options.embedding);
  if (encoder_->embeds())
    source_embedding_ = std::make_unique<Embedding>(
        root / "source", "embedding", source_symbols, options.embedding);
  target_embedding_ =
      std::make_unique<Embedding>(root / "target", "embedding", target_symbols, options.embedding);
  const Index annotation = encoder_->size();
  decoder_ = make_plugin<DecoderKind>(
      options.decoder,
      root / "decoder",
      DecoderSizes{options.embedding,
                   annotation,
                   encoder_->start_size(),
                   encoder_->final_sizes(),
                   [&](const Parameters& p, Index query) {
                     auto attention = make_plugin<AttentionKind>(
                         options.attention, p, AttentionSizes{query, annotation});
                     attention_ = attention.get();
                     return attention;
                   }});
  projection_ = std::make_unique<Linear>(
      root, "projection", decoder_->readout_size(), target_symbols, Linear::Bias::yes);
  store_.allocate(seed);
}

Model::Source Model::read(Tape& tape, const SourceBatch& source) const {
  EncoderInput input{{}, source.lengths, source.tokens};
  if (source_embedding_)
    input.embedded =
        (*source_embedding_)(tape, source.tokens, {source.sentences, source.positions});
  Annotations annotations = encoder_->encode(input);
  if (reads_links()) annotations.links = source.links;
  Memory memory = decoder_->prepare(annotations);
  memory.links = annotations.links;
  return {memory, decoder_->start(annotations, memory)};
}

Model::Forward Model::forward(Tape& tape, const Batch& batch, real factor) const {
  const Source source = read(tape, batch.source_side());
  const Index steps = batch.target_steps, rows = steps * batch.rows;
  Token* symbols = tape.arena().array_of<Token>(rows);
  Token* targets = tape.arena().array_of<Token>(rows);
  for (Index b = 0; b < batch.rows; ++b)
    for (Index t = 0; t < steps; ++t) {
      const auto i = static_cast<std::size_t>(b * steps + t);
      symbols[t * batch.rows + b] = batch.target_in[i];
      targets[t * batch.rows + b] =
          t < batch.target_lengths[static_cast<std::size_t>(b)] ? batch.target_out[i] : -1;
    }
  const auto count = static_cast<std::size_t>(rows);
  Var embedded = (*target_embedding_)(tape, {symbols, count}, {steps, batch.rows});
  const Unrolled unrolled =
      decoder_->unroll(source.memory, source.state, decoder_->inputs(embedded));

  Forward result;
  result.weights = unrolled.weights;
  result.positions = source.memory.lengths;
  Var features = decoder_->readout(unrolled.outputs, embedded);
  const TokenLosses losses = projected_cross_entropy(
      features, projection_->weight(tape), projection_->bias(tape), {targets, count}, factor);

  Var loss = losses.loss;
  if (attention_ != nullptr && tape.training()) {
    const ExtraLoss extra =
        attention_->extra_loss({tape, unrolled.weights, losses.nll, batch.target_lengths, factor});
    if (extra.loss) loss = loss + extra.loss;
    result.attention_totals = extra.totals;
  }

  real* nll = tape.arena().array_of<real>(rows);
  Token* best = tape.arena().array_of<Token>(rows);
  for (Index t = 0; t < steps; ++t)
    for (Index b = 0; b < batch.rows; ++b) {
      nll[b * steps + t] = losses.nll[static_cast<std::size_t>(t * batch.rows + b)];
      best[b * steps + t] = losses.best[static_cast<std::size_t>(t * batch.rows + b)];
    }
  result.losses = {loss, {nll, count}, {best, count}};
  return result;
}

Model::Prediction Model::predict(Tape& tape,
                                 const Source& source,
                                 std::span<const Token> previous) const {
  Var embedded = (*target_embedding_)(tape, previous, {static_cast<Index>(previous.size())});
  DecoderStep step = decoder_->step(source.memory, source.state, decoder_->inputs(embedded));
  Var features = decoder_->readout(side_by_side(step.output), embedded);
  step.next.step = source.state.step + 1;
  return {step.next, (*projection_)(features), step.weights};
}

}  // namespace softalign
