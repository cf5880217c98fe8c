#include "framework/seq/model.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <map>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/value.hpp"
#include "framework/data/text.hpp"
#include "framework/nn/initializers.hpp"
#include "framework/seq/model_checks.hpp"

namespace softalign {
namespace {

// Returns the links as target weights: the links of a target symbol have equal weights, which sum to 1.
std::span<const AlignedPair> aligned_pairs(Tape& tape, const Batch& batch) {
  Index count = 0;
  for (const auto& links : batch.links) count += std::ssize(links);
  AlignedPair* pairs = tape.arena().array_of<AlignedPair>(count);
  AlignedPair* end = pairs;
  for (Index b = 0; b < std::ssize(batch.links); ++b) {
    const auto& links = batch.links[usize(b)];
    for (const Link& link : links) {
      const auto of_target = std::count_if(links.begin(), links.end(), [&](const Link& other) {
        return other.target == link.target;
      });
      *end++ = {link.target, b, link.source, real{1} / static_cast<real>(of_target)};
    }
  }
  return {pairs, usize(count)};
}

}  // namespace

Model::Model(const ModelOptions& options, const SourceFormat& source, const TargetFormat& target)
    : target_symbols_(target.symbols) {
  Parameters root(store_);
  encoder_ = make_plugin<EncoderKind>(options.encoder, root / "encoder", options.embedding);
  check_source(options, *encoder_, source.frames);
  check_tied(options, *encoder_, source.symbols, target.symbols);
  const bool tied = options.tied_embeddings != "none", one_table = options.tied_embeddings == "all";
  if (encoder_->reads() == Encoder::Reads::embeddings) {
    if (source.frames)
      source_projection_.emplace(
          root / "source", "projection", source.frames.size, options.embedding);
    else if (!one_table)
      own_source_embedding_ = std::make_unique<Embedding>(
          root / "source", "embedding", source.symbols, options.embedding);
  }
  target_embedding_ =
      std::make_unique<Embedding>(root / "target",
                                  "embedding",
                                  target.symbols,
                                  options.embedding,
                                  tied ? Embedding::Table::tied : Embedding::Table::looked_up);
  source_embedding_ = one_table ? target_embedding_.get() : own_source_embedding_.get();
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
  if (attention_ == nullptr) check_built_in(options, annotation);
  check_tied_readout(options, decoder_->readout_size());
  output_layer_ = make_plugin<OutputLayerKind>(options.output,
                                               root,
                                               OutputSizes{decoder_->readout_size(),
                                                           target.symbols,
                                                           tied ? target_embedding_.get() : nullptr,
                                                           decoder_->output_size(),
                                                           options.embedding,
                                                           target.values,
                                                           target.not_a_number});
  if (output_layer_->copies())
    copies_ =
        checked_copies(options, *encoder_, aligns(), weights_sum_to_one(), source, target.symbols);
  if (options.dropout) {
    const DropoutOptions& rates = *options.dropout;
    const auto words = [&](const char* side) {
      return Dropout(
          root / side, "words", rates.words, Dropout::Mask::each_step, DropoutUnit::vector);
    };
    const auto embeddings = [&](const char* side) {
      return Dropout(root / side, "embedding", rates.embeddings);
    };
    dropouts_.emplace(Dropouts{words("source"),
                               embeddings("source"),
                               words("target"),
                               embeddings("target"),
                               Dropout(root, "outputs", rates.outputs)});
  }
  if (options.initialise) initialise(store_, *options.initialise);
}

std::vector<Link> Model::placed(std::span<const Link> links) const {
  std::map<std::pair<Index, Index>, bool> sure;  // by target and source
  for (const Link& link : links)
    sure[{link.target, encoder_->position_of(link.source)}] |= link.sure;
  std::vector<Link> all;
  for (const auto& [place, is_sure] : sure) all.push_back({place.second, place.first, is_sure});
  return all;
}

void Model::place_links(Batch& batch) const {
  for (std::vector<Link>& links : batch.links) links = placed(links);
}

Model::Source Model::read(Tape& tape, const SourceBatch& source, HeadWeights* heads) const {
  EncoderInput input{
      embed_source(tape, source), source.lengths, source.tokens, source.frames, &tape, heads};
  if (dropouts_ && input.embedded)
    input.embedded = dropouts_->source_embeddings.sentences_first(
        dropouts_->source_words.sentences_first(input.embedded));
  const Annotations annotations = encoder_->encode(input);
  AttentionMemory memory = decoder_->prepare(annotations);
  memory.source = source;
  if (copies_ && source.copies.size() != source.tokens.size())
    throw BugError("[model] copies, but its batch has no copies: make_batch needs batch_parts()");
  return {memory, decoder_->start(annotations, memory), annotations, input.embedded};
}

Model::Taught Model::teach(Tape& tape,
                           const Batch& batch,
                           const Objective& objective,
                           const Inspection& inspection) const {
  Source source = read(tape, batch.source_side());
  source.memory.inspection = inspection;
  const Index steps = batch.target_steps, rows = steps * batch.rows;
  Token* symbols = tape.arena().array_of<Token>(rows);
  Token* targets = tape.arena().array_of<Token>(rows);
  for (Index b = 0; b < batch.rows; ++b)
    for (Index t = 0; t < steps; ++t) {
      const auto i = usize(b * steps + t);
      symbols[t * batch.rows + b] = batch.target_in[i];
      targets[t * batch.rows + b] = t < batch.target_lengths[usize(b)] ? batch.target_out[i] : -1;
    }
  const auto count = usize(rows);
  const bool sampled = objective.truth < 1 && tape.noise() != nullptr;
  Unrolled unrolled;
  if (sampled) unrolled = unroll_sampled(tape, source, {symbols, count}, batch.rows, objective);
  Var embedded = embed_target(tape, {symbols, count}, Shape::steps_first({steps, batch.rows}));
  if (!sampled)
    unrolled = decoder_->unroll(source.memory, source.state, decoder_->inputs(embedded));
  if (aligns() && unrolled.weights.empty())
    throw BugError("[decoder] aligns() is true, but its steps return no weights");
  Var readout = decoder_->readout(unrolled.outputs, embedded);
  if (dropouts_) readout = dropouts_->outputs.steps_first(readout);
  if (!readout.shape().is_steps_first() || readout.shape().sentences() != batch.rows)
    throw BugError("[decoder] the readout [T,B,...] does not record which axis has the sentences");
  return {readout,
          unrolled.outputs,
          embedded,
          {targets, count},
          unrolled.weights,
          source.memory.lengths,
          source};
}

ExtraLoss Model::extra_loss(Tape& tape,
                            const Taught& taught,
                            const Batch& batch,
                            std::span<const real> nll,
                            const Objective& objective) const {
  ExtraLoss extra;
  if (attention_ != nullptr && tape.training())
    extra =
        attention_->extra_loss({tape, taught.weights, nll, batch.target_lengths, objective.factor});
  const auto add = [&](Var loss) { extra.loss = extra.loss ? extra.loss + loss : loss; };
  if (objective.doubly_stochastic > 0)
    add(doubly_stochastic_penalty(taught.weights,
                                  taught.positions,
                                  batch.target_lengths,
                                  objective.factor * objective.doubly_stochastic));
  if (objective.coverage > 0)
    add(coverage_penalty(taught.weights,
                         taught.positions,
                         batch.target_lengths,
                         objective.factor * objective.coverage));
  if (objective.guided_alignment > 0)
    add(alignment_cross_entropy(
        taught.weights, aligned_pairs(tape, batch), objective.factor * objective.guided_alignment));
  return extra;
}

Model::Forward Model::forward(Tape& tape,
                              const Batch& batch,
                              const Objective& objective,
                              const Inspection& inspection) const {
  const Taught taught = teach(tape, batch, objective, inspection);
  const OutputRows part = output_rows(*output_layer_, taught.output(), taught.targets, objective);
  const TokenLosses losses = losses_of(*output_layer_, part, objective);
  const ExtraLoss extra = extra_loss(tape, taught, batch, losses.nll, objective);
  const Index steps = batch.target_steps, rows = steps * batch.rows;
  real* nll = tape.arena().array_of<real>(rows);
  Token* best = tape.arena().array_of<Token>(rows);
  for (Index t = 0; t < steps; ++t)
    for (Index b = 0; b < batch.rows; ++b) {
      nll[b * steps + t] = losses.nll[usize(t * batch.rows + b)];
      best[b * steps + t] = losses.best[usize(t * batch.rows + b)];
    }
  const auto count = usize(rows);
  return {{extra.loss ? losses.loss + extra.loss : losses.loss, {nll, count}, {best, count}},
          taught.weights,
          taught.positions,
          extra.totals,
          taught.source};
}

// Returns [B,S,E]; empty if the encoder does not read embeddings.
Var Model::embed_source(Tape& tape, const SourceBatch& source) const {
  const Shape shape = {source.sentences, source.positions};
  if (source_embedding_) return (*source_embedding_)(tape, source.tokens, shape);
  if (!source_projection_) return {};
  const Index size = std::ssize(source.frames) / std::max<Index>(1, shape.size());
  const View frames = tape.zeros({source.sentences, source.positions, size});
  std::ranges::copy(source.frames, frames.data);
  return (*source_projection_)(tape.constant(frames));
}

// Returns [B,E] for one step, or [T,B,E].
Var Model::embed_target(Tape& tape,
                        std::span<const Token> symbols,
                        Shape leading,
                        Index step) const {
  Var embedded = (*target_embedding_)(tape, symbols, leading);
  if (!dropouts_) return embedded;
  const Dropout &words = dropouts_->target_words, &numbers = dropouts_->target_embeddings;
  return leading.rank() == 1 ? numbers(words(embedded, step), step)
                             : numbers.steps_first(words.steps_first(embedded));
}

Model::Prediction Model::predict(Tape& tape,
                                 const Source& source,
                                 std::span<const Token> previous) const {
  Var embedded = (*target_embedding_)(tape, previous, {static_cast<Index>(previous.size())});
  DecoderStep step = decoder_->step(source.memory, source.state, decoder_->inputs(embedded));
  step.next.step = source.state.step + 1;
  return {step.next, output_layer_->logits(output_of(step, embedded, source.memory)), step.weights};
}

OutputInput Model::output_of(const DecoderStep& step,
                             Var embedded,
                             const AttentionMemory& memory) const {
  const Var outputs = side_by_side(step.output);
  return {decoder_->readout(outputs, embedded),
          {&step.weights, usize(step.weights ? 1 : 0)},
          memory,
          outputs,
          embedded};
}

namespace {

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw SpecError("model.initialise.weights: {}", fmt::format(format, std::forward<Args>(args)...));
}

// Returns the initialiser of the item "NAME = HOW".
Initializer initializer_of(const std::string& item) {
  const auto sign = item.find('=');
  const std::vector<std::string_view> words =
      split_words(sign == item.npos ? "" : std::string_view(item).substr(sign + 1));
  const std::string_view how = words.empty() ? "" : words[0];
  const auto number = [&](const Limits& limits) {
    try {
      return to_number(Value::scalar(std::string(words[1]), {}), limits);
    } catch (const ScalarFault& fault) {
      refuse("'{}': {}", printable(item), fault.what());
    }
  };
  if (words.size() == 1) {
    if (how == "zeros") return init::zeros();
    if (how == "glorot") return init::glorot();
    if (how == "orthogonal") return init::orthogonal();
  } else if (words.size() == 2) {
    if (how == "constant") return init::constant(number({}));
    if (how == "uniform") return init::uniform(number(positive()));
    if (how == "normal") return init::normal(number(positive()));
  }
  refuse("'{}': write NAME = zeros, constant X, uniform X, normal X, glorot or orthogonal",
         printable(item));
}

// Returns the initialiser; an orthogonal one gets a block for each square block of the parameter.
Initializer fitting(const Initializer& initializer, const Parameter& parameter) {
  if (initializer.kind() != Initializer::Kind::orthogonal) return initializer;
  const Shape& shape = parameter.shape;
  if (shape.rank() != 2 || shape[1] % shape[0] != 0)
    refuse("{} {} does not consist of square blocks, so it cannot be orthogonal",
           parameter.name,
           shape.str());
  return init::orthogonal(shape[1] / shape[0]);
}

// Returns a hint with the parameter names that are similar to this one or have the same last part.
std::string names_like(std::string_view name, const ParameterStore& store) {
  const std::string end = fmt::format(".{}", name.substr(name.rfind('.') + 1));
  std::vector<std::string> near;
  for (const Parameter& parameter : store.all())
    if (alike(name, parameter.name) || parameter.name.ends_with(end))
      near.push_back(parameter.name);
  return near.empty() ? "" : fmt::format(" did you mean {}?", fmt::join(near, " or "));
}

}  // namespace

void initialise(ParameterStore& store, const InitialiseOptions& options) {
  if (options.type != "own")
    store.redraw(
        options.type == "uniform" ? init::uniform(options.scale) : init::normal(options.scale),
        !options.orthogonal);
  for (const std::string& item : options.weights.value_or(std::vector<std::string>{})) {
    const Initializer how = initializer_of(item);
    const std::string name(trimmed(std::string_view(item).substr(0, item.find('='))));
    if (store.redraw_named(name, [&](const Parameter& one) { return fitting(how, one); }) == 0)
      refuse("no parameter is called '{}';{} softalign parameters lists them",
             printable(name),
             names_like(name, store));
  }
}

}  // namespace softalign
