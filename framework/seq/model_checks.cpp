#include "framework/seq/model_checks.hpp"

#include "framework/base/types.hpp"
#include "framework/config/value.hpp"

namespace softalign {

void check_source(const ModelOptions& options, const Encoder& encoder, const FrameFormat& frames) {
  using Reads = Encoder::Reads;
  if (frames && encoder.reads() == Reads::symbols)
    throw SpecError("model.encoder: encoder '{}' reads symbols, but the sources are frames",
                    options.encoder.type);
  if (frames && encoder.reads() == Reads::frames && encoder.frames().size > 0 &&
      encoder.frames().size != frames.size)
    throw SpecError("model.encoder: encoder '{}' reads frames of {} numbers, but these have {}",
                    options.encoder.type,
                    encoder.frames().size,
                    frames.size);
}

void check_tied(const ModelOptions& options, const Encoder& encoder, Index source, Index target) {
  if (options.tied_embeddings != "all") return;
  if (encoder.reads() != Encoder::Reads::embeddings)
    throw SpecError(
        "model.tied_embeddings: all: encoder {} reads the source without embeddings; use target",
        options.encoder.type);
  if (source != target)
    throw SpecError(
        "model.tied_embeddings: all needs one vocabulary for both sides, but these have {} and {} "
        "symbols; share the vocabulary, or use target",
        source,
        target);
}

void check_tied_readout(const ModelOptions& options, Index readout) {
  if (options.tied_embeddings == "none" || readout == options.embedding) return;
  throw SpecError(
      "model.tied_embeddings: {}: the output layer's weights are the embeddings, of width {}, but "
      "the readout of decoder {} has width {}; make them equal with model.embedding or the "
      "decoder's readout_units (or units, if it has no readout_units)",
      options.tied_embeddings,
      options.embedding,
      options.decoder.type,
      readout);
}

std::shared_ptr<const Copies> checked_copies(const ModelOptions& options,
                                             const Encoder& encoder,
                                             bool aligns,
                                             bool sums_to_one,
                                             const SourceFormat& source,
                                             Index target_symbols) {
  constexpr Index kLength = 64;  // any length
  if (!aligns)
    throw SpecError("model.output: {} copies by attention weights, but this model has none",
                    options.output.type);
  if (!sums_to_one)
    throw SpecError(
        "model.output: {} copies with the weights as probabilities, but those of attention '{}' do "
        "not sum to 1",
        options.output.type,
        options.attention.type);
  if (source.frames)
    throw SpecError("model.output: {} copies source symbols, but these sources are frames",
                    options.output.type);
  if (encoder.positions(kLength) != kLength)
    throw SpecError(
        "model.output: {} copies the source symbol of an annotation, but encoder '{}' has other "
        "annotations than one for each symbol",
        options.output.type,
        options.encoder.type);
  return source.copies ? source.copies : std::make_shared<Copies>(source.symbols, target_symbols);
}

void check_built_in(const ModelOptions& options, Index annotation) {
  ParameterStore unused;
  const auto attention = make_plugin<AttentionKind>(
      options.attention, Parameters(unused), AttentionSizes{annotation, annotation});
  if (attention->built_in()) return;
  const Position& where = options.attention.where;
  throw SpecError(
      "{}{}decoder '{}' has an attention of its own and ignores attention '{}'; write attention: "
      "built_in",
      where.str(),
      where.file.empty() ? "" : ": ",
      options.decoder.type,
      options.attention.type);
}

}  // namespace softalign
