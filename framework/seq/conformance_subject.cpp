#include "framework/seq/conformance_subject.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/seq/decoder.hpp"
#include "framework/seq/output_layer.hpp"

namespace softalign::conformance {
namespace {

constexpr Index kQuery = 6, kAnnotation = 8, kStart = 4;

void check_sizes(const Encoder& encoder, const Annotations& a) {
  std::vector<Index> finals;
  for (Var one : a.finals) finals.push_back(one.shape().last());
  if (a.states.shape().last() != encoder.size() || a.averaged().shape() != a.states.shape() ||
      a.start.shape().last() != encoder.start_size() || finals != encoder.final_sizes())
    throw BugError("[encoder] size(), start_size() or final_sizes() is not what encode returns");
}

// Throws if a row sums to neither 1 nor 0 (a position that attends to nothing), or has weights at
// padding.
void check_heads(const HeadWeights& heads, std::span<const Index> lengths, Index positions) {
  const auto rows = static_cast<Index>(lengths.size());
  if (heads.parts.empty()) throw BugError("[encoder] attends() is true, but it shows no weights");
  for (const auto& [layer, step, weights] : heads.parts) {
    const Shape& shape = weights.shape;
    if (shape.rank() != 4 || shape != Shape{positions, rows, shape[2], positions} || step != 0)
      throw BugError("[encoder] the weights of its heads are {}, not [S,B,H,S]", shape.str());
    for (Index at = 0; at < shape.size(); at += positions) {
      const Index length = lengths[usize(at / positions / shape[2] % rows)];
      if (at / positions / shape[2] / rows >= length) continue;
      const real* row = weights.data + at;
      const real sum = std::accumulate(row, row + length, real{0});
      if (std::abs(sum) > 0 && std::abs(sum - 1) > real(1e-5))
        throw BugError("[encoder] the weights of a head sum to {}", sum);
      if (std::any_of(row + length, row + positions, [](real w) { return w != 0; }))
        throw BugError("[encoder] the weights of a head at padding are not 0");
    }
  }
}

// Returns numbers [B,S] as symbols [B,S + 1], with </s> after the last valid position of each row.
std::span<const Token> symbols_of(Tape& tape, Var numbers, std::span<const Index> lengths) {
  const Index rows = numbers.shape()[0], each = numbers.shape().size() / rows;
  Token* symbols = tape.arena().array_of<Token>(rows * (each + 1));
  for (Index b = 0; b < rows; ++b) {
    Token* row = symbols + b * (each + 1);
    for (Index i = 0; i < each; ++i)
      row[i] = kSpecials + 1 + static_cast<Token>(numbers.value().data[b * each + i]) % kSymbols;
    row[each] = kEnd;
    row[lengths[usize(b)]] = kEnd;
  }
  return {symbols, usize(rows * (each + 1))};
}

// Returns the numbers as frames of integers in [0, kSymbols).
std::span<const float> frames_of(Tape& tape, Var numbers) {
  const Index count = numbers.shape().size();
  auto* frames = tape.arena().array_of<float>(count);
  for (Index i = 0; i < count; ++i)
    frames[i] = static_cast<float>(static_cast<Token>(numbers.value().data[i]) % kSymbols);
  return {frames, usize(count)};
}

void check_positions(const Encoder& encoder, const Annotations& a, std::span<const Index> read) {
  for (std::size_t b = 0; b < read.size(); ++b)
    if (a.lengths[b] != encoder.positions(read[b]))
      throw BugError("[encoder] positions() is not how many annotations encode returns");
}

// Returns a sum of each sentence's annotations with fixed weights, for encoders whose number of annotations
// differs from the number of positions read.
Var sum_with(const Annotations& a, real turn) {
  Tape& tape = a.states.tape();
  View weights = tape.zeros({a.states.shape()[0], a.states.shape()[1]});
  for (Index i = 0; i < weights.size(); ++i)
    weights.data[i] = std::cos(turn * static_cast<real>(i % a.states.shape()[1]));
  return weighted_sum(tape.constant(weights), a.averaged(), a.lengths);
}

// Returns the subject of an encoder that reads symbols or frames; its outputs are sums of the annotations.
std::unique_ptr<Subject> source_encoder_subject(std::unique_ptr<Subject> subject,
                                                std::shared_ptr<Encoder> encoder) {
  const bool reads_frames = encoder->reads() == Encoder::Reads::frames;
  const Index height = std::max<Index>(1, encoder->frames().height),
              size = reads_frames ? std::max<Index>(1, encoder->frames().size) : 1;
  subject->input("source", {kRows, kPositions, height * size}, true);
  subject->inputs[0].make_symbols();
  subject->positional_outputs = {false, false, false, false};
  subject->run = [=](Tape& tape, const Arrays& x, std::span<const Index> lengths) -> Arrays {
    const auto rows = static_cast<Index>(lengths.size());
    Index* read = tape.arena().array_of<Index>(rows);
    for (Index b = 0; b < rows; ++b) read[b] = lengths[usize(b)] * height + (reads_frames ? 0 : 1);
    EncoderInput source{.embedded = {}, .lengths = {read, lengths.size()}, .tape = &tape};
    if (reads_frames)
      source.frames = frames_of(tape, x[0]);
    else
      source.symbols = symbols_of(tape, x[0], lengths);
    const Annotations a = encoder->encode(source);
    check_sizes(*encoder, a);
    check_positions(*encoder, a, {read, lengths.size()});
    return {sum_with(a, real(0.7)), sum_with(a, real(1.9)), a.last, a.start};
  };
  return subject;
}

std::unique_ptr<Subject> encoder_subject(const Choice& choice) {
  auto subject = std::make_unique<Subject>();
  std::shared_ptr<Encoder> encoder =
      make_plugin<EncoderKind>(choice, Parameters(subject->parameters), kEmbedding);
  if (encoder->reads() != Encoder::Reads::embeddings)
    return source_encoder_subject(std::move(subject), encoder);
  subject->input("embedded", {kRows, kPositions, kEmbedding}, true);
  bool equal = true;  // as many annotations as positions read
  for (Index length = 1; length <= kPositions; ++length)
    equal = equal && encoder->positions(length) == length;
  subject->positional_outputs = {equal, equal, false, false};
  subject->positional_outputs.resize(4 + encoder->final_sizes().size(), false);
  subject->run = [=](Tape&, const Arrays& x, std::span<const Index> lengths) -> Arrays {
    HeadWeights heads;
    const Annotations a = encoder->encode({.embedded = x[0], .lengths = lengths, .heads = &heads});
    check_sizes(*encoder, a);
    check_positions(*encoder, a, lengths);
    if (encoder->attends()) check_heads(heads, lengths, x[0].shape()[1]);
    Arrays outputs = {a.states, a.averaged(), a.last, a.start};
    if (!equal) outputs = {sum_with(a, real(0.7)), sum_with(a, real(1.9)), a.last, a.start};
    outputs.insert(outputs.end(), a.finals.begin(), a.finals.end());
    return outputs;
  };
  return subject;
}

// Returns a Q other than D, or D if the plugin requires it, as scores s · h do.
template <class Kind, class Sizes>
Index query_size(const Choice& choice) {
  try {
    ParameterStore unused;
    make_plugin<Kind>(choice, Parameters(unused), Sizes{kQuery, kAnnotation});
    return kQuery;
  } catch (const SpecError&) {
    return kAnnotation;
  }
}

std::unique_ptr<Subject> score_subject(const Choice& choice) {
  auto subject = std::make_unique<Subject>();
  const Index query_units = query_size<ScoreKind, ScoreSizes>(choice);
  std::shared_ptr<Score> score = make_plugin<ScoreKind>(
      choice, Parameters(subject->parameters), ScoreSizes{query_units, kAnnotation});
  subject->input("annotations", {kRows, kPositions, kAnnotation}, true);
  subject->input("query", {kRows, query_units}, false);
  if (score->reads_attended()) subject->input("attended", {kRows, kPositions}, true);
  subject->positional_outputs = {true};
  subject->permutable = score->permutable();
  subject->run = [score](Tape&, const Arrays& x, std::span<const Index> lengths) -> Arrays {
    Memory memory = score->prepare(x[0]);
    memory.lengths = lengths;
    Query query{x[1]};
    if (score->reads_attended()) query.attended = x[2];
    Var energies = score->score(memory, query);
    if (energies.shape() != Shape{x[0].shape()[0], x[0].shape()[1]})
      throw BugError("[score] energies are {}, not [B,S]", energies.shape().str());
    return {energies};
  };
  return subject;
}

// Links the second target position to the last source position and, if that is another one, to the first.
std::vector<std::vector<Link>> links_of(std::span<const Index> lengths) {
  std::vector<std::vector<Link>> links;
  for (const Index length : lengths) {
    links.push_back({{length - 1, 1}});
    if (length > 1) links.back().push_back({0, 1});
  }
  return links;
}

std::unique_ptr<Subject> attention_subject(const Choice& choice) {
  auto subject = std::make_unique<Subject>();
  const Index query_units = query_size<AttentionKind, AttentionSizes>(choice);
  std::shared_ptr<Attention> attention = make_plugin<AttentionKind>(
      choice, Parameters(subject->parameters), AttentionSizes{query_units, kAnnotation});
  if (attention->built_in()) return nullptr;
  subject->input("annotations", {kRows, kPositions, kAnnotation}, true);
  subject->input("query", {kRows, query_units}, false);
  subject->input("last", {kRows, kAnnotation}, false);
  subject->positional_outputs = {false};
  if (attention->aligns()) {
    subject->positional_outputs.push_back(true);
    subject->weights_output = 1;
    subject->weights_sum_to_one = attention->weights_sum_to_one();
  }
  subject->run = [attention](Tape&, const Arrays& x, std::span<const Index> lengths) -> Arrays {
    AttentionMemory memory = attention->prepare({x[0], x[2], x[2], lengths});
    const std::vector<std::vector<Link>> links = links_of(lengths);
    if (attention->reads_links()) memory.source.links = links;
    const Glimpse first = attention->attend(memory, {{x[1]}, attention->start(memory)});
    const Glimpse glimpse = attention->attend(memory, {{x[1], 1}, first.next});
    if (glimpse.context.shape().last() != attention->context_size())
      throw BugError("[attention] context_size() is not what attend returns");
    if (glimpse.weights) return {glimpse.context, glimpse.weights};
    return {glimpse.context};
  };
  return subject;
}

// An attention that remembers its last query, to test decoders.
class Remembering final : public Attention {
 public:
  Remembering(const Parameters& p, AttentionSizes sizes)
      : attention_(make_plugin<AttentionKind>(
            Choice{.kind = "attention", .type = "global"}, p, AttentionSizes(sizes))),
        query_(sizes.query) {}

  AttentionMemory prepare(const Annotations& a) const override { return attention_->prepare(a); }
  State start(const AttentionMemory& memory) const override {
    Tape& tape = memory.keys.tape();
    return {tape.constant(tape.zeros({memory.keys.shape()[0], query_}))};
  }
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const override {
    if (query.past.size() != 1)
      throw BugError(
          "[decoder] passes {} arrays to its attention instead of the attention's own 1 (start, "
          "Glimpse::next)",
          query.past.size());
    Glimpse glimpse = attention_->attend(memory, {{query.state + query.past[0], query.step}});
    glimpse.next = {tanh(query.state)};
    return glimpse;
  }
  Index context_size() const override { return attention_->context_size(); }
  bool aligns() const override { return true; }

 private:
  std::unique_ptr<Attention> attention_;
  Index query_;
};

void check_step(const Decoder& decoder, const State& start, const DecoderStep& step) {
  if (step.next.size() != start.size())
    throw BugError("[decoder] its state has {} arrays at the start and {} after a step",
                   start.size(),
                   step.next.size());
  if (decoder.aligns() != static_cast<bool>(step.weights))
    throw BugError("[decoder] aligns() is {}, but a step returns {}",
                   decoder.aligns(),
                   step.weights ? "weights" : "no weights");
  if (decoder.reads_links())
    throw BugError("[decoder] reads_links() is true, but its attention reads none");
}

std::unique_ptr<Subject> decoder_subject(const Choice& choice) {
  auto subject = std::make_unique<Subject>();
  std::shared_ptr<Decoder> decoder = make_plugin<DecoderKind>(
      choice,
      Parameters(subject->parameters),
      DecoderSizes{kEmbedding, kAnnotation, kStart, {}, [](const Parameters& p, Index query) {
                     return std::make_unique<Remembering>(p, AttentionSizes{query, kAnnotation});
                   }});
  subject->input("annotations", {kRows, kPositions, kAnnotation}, true);
  subject->input("last", {kRows, kAnnotation}, false);
  subject->input("start", {kRows, kStart}, false);
  subject->input("first symbol", {kRows, kEmbedding}, false);
  subject->input("second symbol", {kRows, kEmbedding}, false);
  subject->positional_outputs = {false, false};
  subject->run = [decoder](Tape&, const Arrays& x, std::span<const Index> lengths) -> Arrays {
    const Annotations annotations{x[0], x[1], x[2], lengths};
    const AttentionMemory memory = decoder->prepare(annotations);
    const State start = decoder->start(annotations, memory);
    const DecoderStep one = decoder->step(memory, start, decoder->inputs(x[3]));
    check_step(*decoder, start, one);
    State next = one.next;
    next.step = 1;
    const DecoderStep two = decoder->step(memory, next, decoder->inputs(x[4]));
    Var features = decoder->readout(side_by_side(two.output), x[4]);
    if (features.shape().last() != decoder->readout_size())
      throw BugError("[decoder] readout_size() is not what readout returns");
    const Index outputs = side_by_side(two.output).shape().last();
    if (decoder->output_size() != 0 && decoder->output_size() != outputs)
      throw BugError("[decoder] output_size() is not the width of the outputs of a step");
    return {features, two.next[0]};
  };
  return subject;
}

}  // namespace

void Subject::input(const char* name, Shape shape, bool positional) {
  Input in{std::vector<real>(usize(shape.size())), shape, positional};
  const RandomStream stream(17, name);
  for (std::size_t i = 0; i < in.numbers.size(); ++i)
    in.numbers[i] = static_cast<real>(0.7 * stream.normal(i));
  inputs.push_back(std::move(in));
}

void Subject::Input::make_symbols() {
  for (real& number : numbers) number = std::floor(std::abs(10 * number)) + real(0.5);
}

std::unique_ptr<Subject> subject_for(const Choice& choice) {
  if (choice.kind == EncoderKind::name) return encoder_subject(choice);
  if (choice.kind == ScoreKind::name) return score_subject(choice);
  if (choice.kind == AttentionKind::name) return attention_subject(choice);
  if (choice.kind == DecoderKind::name) return decoder_subject(choice);
  if (choice.kind == OutputLayerKind::name) return output_layer_subject(choice);
  return nullptr;  // tasks, optimisers, searches, metrics: only their options are checked here
}

}  // namespace softalign::conformance
