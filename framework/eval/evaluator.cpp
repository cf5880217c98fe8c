#include "framework/eval/evaluator.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "framework/autodiff/tape_pool.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/data/batches.hpp"
#include "framework/eval/metric.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"
#include "framework/eval/shared_evaluation.hpp"

namespace softalign {
namespace {

// Returns the weights of row b of a teacher-forced batch.
AlignmentMatrix matrix_of(const Model::Forward& forward, const Batch& batch, Index b) {
  const auto row = usize(b);
  AlignmentMatrix matrix{batch.target_lengths[row], forward.positions[row], {}};
  for (Index t = 0; t < matrix.steps; ++t) {
    const View all = forward.weights[usize(t)].value();
    const real* weights = all.data + b * all.shape[1];
    matrix.weights.insert(matrix.weights.end(), weights, weights + matrix.positions);
  }
  return matrix;
}

// Returns the matrices of row b, for every head.
std::vector<HeadMatrix> head_matrices_of(const HeadWeights& heads,
                                         Index steps,
                                         Index positions,
                                         Index b) {
  std::vector<HeadMatrix> found;
  const auto matrix = [&](Index layer, Index head) -> AlignmentMatrix& {
    for (HeadMatrix& one : found)
      if (one.layer == layer && one.head == head) return one.matrix;
    const auto size = usize(steps * positions);
    found.push_back({layer, head, {steps, positions, std::vector<float>(size)}});
    return found.back().matrix;
  };
  for (const HeadWeights::Part& part : heads.parts) {
    const Shape& shape = part.weights.shape;  // [T,B,H,S]
    for (Index h = 0; h < shape[2]; ++h) {
      AlignmentMatrix& to = matrix(part.layer, h);
      for (Index t = 0; t < std::min(shape[0], steps - part.step); ++t)
        std::copy_n(part.weights.data + ((t * shape[1] + b) * shape[2] + h) * shape[3],
                    std::min(positions, shape[3]),
                    to.weights.begin() + (part.step + t) * positions);
    }
  }
  return found;
}

// Stores the encoder's self-attention if the example is one of the first kept.size(). This is a separate pass,
// because it needs no targets; the tape is reset.
void keep_self_attention(const Model& model,
                         Tape& tape,
                         const Batch& batch,
                         std::vector<std::vector<HeadMatrix>>& kept) {
  const auto is_kept = [&](Index at) { return at < std::ssize(kept); };
  if (std::ranges::none_of(batch.example, is_kept)) return;
  HeadWeights heads;
  model.read(tape, batch.source_side(), &heads);
  for (Index b = 0; b < batch.rows; ++b) {
    const Index length = batch.source_lengths[usize(b)];
    if (const Index at = batch.example[usize(b)]; is_kept(at))
      kept[usize(at)] = head_matrices_of(heads, length, length, b);
  }
  tape.reset();
}

// The numbers of examples, from the first of a split, for which the weights of single heads are requested.
struct KeptHeads {
  Index cross = 0, own = 0;
};

std::vector<TeacherForced> in_one_pass(const Model& model,
                                       Tape& tape,
                                       const Batch& batch,
                                       KeptHeads keep) {
  const auto any = [&](Index kept) {
    return std::ranges::any_of(batch.example, [&](Index at) { return at < kept; });
  };
  HeadWeights heads, own;
  const Model::Forward forward = model.forward(
      tape,
      batch,
      1,
      {.heads = any(keep.cross) ? &heads : nullptr, .own_heads = any(keep.own) ? &own : nullptr});
  std::vector<TeacherForced> results(usize(batch.rows));
  for (Index b = 0; b < batch.rows; ++b) {
    TeacherForced& result = results[usize(b)];
    for (Index t = 0; t < batch.target_lengths[usize(b)]; ++t) {
      const auto k = usize(b * batch.target_steps + t);
      result.nll += static_cast<double>(forward.losses.nll[k]);
      result.target.push_back(batch.target_out[k]);
      result.best.push_back(forward.losses.best[k]);
    }
    if (batch.example[usize(b)] < keep.own) {
      const Index steps = batch.target_lengths[usize(b)];
      result.own_heads = head_matrices_of(own, steps, steps, b);
    }
    if (!model.aligns()) continue;
    result.attention = matrix_of(forward, batch, b);
    if (batch.example[usize(b)] < keep.cross)
      result.heads = head_matrices_of(heads, result.attention.steps, result.attention.positions, b);
  }
  return results;
}

std::vector<TeacherForced> step_by_step(const Scorer& scorer, Tape& tape, const Batch& batch) {
  std::vector<std::span<const Token>> targets;
  for (Index b = 0; b < batch.rows; ++b) targets.push_back(batch.target(b));
  std::vector<TeacherForced> results;
  for (Forced& forced : force(scorer, tape, batch.source_side(), targets)) {
    const std::span<const Token> target = targets[results.size()];
    TeacherForced& result = results.emplace_back();
    result.nll = -forced.hypothesis.log_probability;
    result.target.assign(target.begin(), target.end());
    result.target.push_back(kEnd);
    result.best = std::move(forced.best);
    result.attention = matrix_of(forced.hypothesis);
  }
  return results;
}

// Converts a hypothesis, in which <unk> may have been replaced, to the text and symbols that metrics read.
Decoded decoded_of(Hypothesis hypothesis, const Vocabulary& vocabulary) {
  const std::vector<Token>& tokens = hypothesis.tokens;
  std::string text = text_of(hypothesis, vocabulary);
  const auto unknown = std::ranges::count(tokens, kUnknown);
  const bool recut =
      (vocabulary.has_pieces() || unknown > 0) && unknown == std::ssize(hypothesis.replaced);
  std::vector<Token> symbols = recut ? vocabulary.encode(text) : tokens;
  std::vector<Link> replaced;
  for (const ReplacedWord& one : hypothesis.replaced) replaced.push_back({one.source, one.symbol});
  return {std::move(hypothesis.tokens),
          std::move(text),
          std::move(symbols),
          hypothesis.score,
          hypothesis.finished,
          std::move(replaced)};
}

double bytes_of(const AlignmentMatrix& matrix) {
  return static_cast<double>(matrix.weights.size() * sizeof(float));
}

double bytes_of(const std::vector<HeadMatrix>& heads) {
  double sum = 0;
  for (const HeadMatrix& one : heads) sum += bytes_of(one.matrix);
  return sum;
}

double bytes_of(const std::vector<Hypothesis>& hypotheses) {
  double sum = 0;
  for (const Hypothesis& one : hypotheses)
    sum += static_cast<double>(sizeof one + one.tokens.size() * sizeof(Token) +
                               one.log_probabilities.size() * sizeof(double) +
                               one.alignment.size() * sizeof(float));
  return sum;
}

// Returns every ranks.count()-th batch, so that each rank has long and short sentences.
Batches batches_of_rank(Batches all, const Ranks& ranks) {
  if (ranks.count() == 1) return all;
  Batches own;
  for (auto i = usize(ranks.rank()); i < all.size(); i += usize(ranks.count())) own.append(all[i]);
  return own;
}

}  // namespace

AlignmentMatrix matrix_of(const Hypothesis& hypothesis) {
  if (hypothesis.alignment.empty()) return {};
  const auto steps = static_cast<Index>(hypothesis.steps());
  return {steps, std::ssize(hypothesis.alignment) / steps, hypothesis.alignment};
}

double EvaluatedSplit::kept_bytes() const {
  double sum = 0;
  for (const AlignmentMatrix& one : forced) sum += bytes_of(one);
  for (const std::vector<HeadMatrix>& one : forced_heads) sum += bytes_of(one);
  for (const std::vector<HeadMatrix>& one : self_attention) sum += bytes_of(one);
  for (const std::vector<HeadMatrix>& one : decoder_self_attention) sum += bytes_of(one);
  for (const AlignmentMatrix& one : searched) sum += bytes_of(one);
  return sum;
}

bool has_references(const Split& split) {
  const std::span<const ExampleRow> rows = split.examples.rows();
  return rows.empty() ||
         std::ranges::any_of(rows, [](const ExampleRow& row) { return row.target > 0; });
}

EvaluatedSplit evaluate(const Scorer& scorer,
                        const Split& split,
                        const Vocabulary& target,
                        const EvaluationRequest& request,
                        Workers& workers) {
  const UsualArithmetic usual;
  const Model& model = scorer.aligning();
  const Index total = std::ssize(split.examples);
  EvaluatedSplit out;
  out.counts = CountTable(count_layout(request.metrics), total);
  const auto kept = usize(std::min(request.keep, total));
  const bool referenced = has_references(split), of_numbers = target.type() == "numbers";
  if (request.search != nullptr) out.decoded.resize(split.examples.size());
  if (request.self_attention) out.self_attention.resize(kept);
  if (referenced && request.decoder_self_attention) out.decoder_self_attention.resize(kept);
  if (scorer.aligns()) {
    if (referenced) out.forced.resize(kept);
    if (referenced && request.heads) out.forced_heads.resize(kept);
    if (request.search != nullptr) out.searched.resize(kept);
  }
  std::mutex mutex;
  Index done = 0;
  TapePool tapes;
  const Demands demands{.no_unknown = request.unknown != nullptr && request.unknown->forbids()};

  const Batches batches = batches_of_rank(evaluation_batches(split, request.batch), *request.ranks);
  const auto evaluate_batch = [&](Index i) {
    if (request.stop && request.stop())
      throw Interrupted("interrupted while evaluating {}", split.name);
    Batch batch = make_batch(split, batches[usize(i)], scorer.batch_parts());
    model.place_links(batch);
    const auto borrowed = tapes.borrow();
    Tape& tape = *borrowed;
    keep_self_attention(model, tape, batch, out.self_attention);
    double found = 0;  // bytes
    std::vector<TeacherForced> forced;
    if (referenced)
      forced =
          scorer.models().size() == 1
              ? in_one_pass(model,
                            tape,
                            batch,
                            {std::ssize(out.forced_heads), std::ssize(out.decoder_self_attention)})
              : step_by_step(scorer, tape, batch);
    for (const TeacherForced& one : forced)
      found += bytes_of(one.attention) + bytes_of(one.heads) + bytes_of(one.own_heads);
    if (request.search != nullptr) {
      auto hypotheses = request.search->run(scorer, tape, batch.source_side(), demands);
      for (const auto& of_sentence : hypotheses) found += bytes_of(of_sentence);
      for (std::size_t row = 0; row < hypotheses.size(); ++row) {
        const auto at = usize(batch.example[row]);
        Hypothesis& best = hypotheses[row].front();
        if (at < kept && scorer.aligns()) out.searched[at] = matrix_of(best);
        if (request.unknown != nullptr)
          request.unknown->replace(best, split.examples[at].source_text);
        out.decoded[at] = decoded_of(std::move(best), target);
      }
    }
    for (std::size_t row = 0; row < forced.size(); ++row) {
      const auto at = usize(batch.example[row]);
      EvaluatedSentence sentence{.example = split.examples[at], .forced = &forced[row]};
      if (request.search != nullptr) sentence.decoded = &out.decoded[at];
      if (!split.references.empty()) sentence.references = split.references[at];
      if (scorer.aligns()) sentence.attention = &forced[row].attention;
      const std::vector<Link> links = model.placed(sentence.example.links);
      sentence.links = links;
      std::optional<WordGroups> words;
      if (request.source != nullptr && sentence.attention != nullptr)
        words = word_groups(*request.source,
                            sentence.example.source,
                            target,
                            sentence.example.target,
                            *sentence.attention);
      sentence.words = words ? &*words : nullptr;
      sentence.ibm_model1 = request.ibm_model1;
      sentence.row_aligns = request.row_aligns;
      sentence.of_numbers = of_numbers;
      out.counts.count(static_cast<Index>(at), sentence);
      if (at >= kept) continue;
      if (!out.decoder_self_attention.empty())
        out.decoder_self_attention[at] = std::move(forced[row].own_heads);
      if (!scorer.aligns()) continue;
      if (request.heads) out.forced_heads[at] = std::move(forced[row].heads);
      out.forced[at] = std::move(forced[row].attention);
    }
    const auto of_tape = static_cast<double>(tape.arena().peak()),
               of_second = static_cast<double>(tape.peak_bytes()) - of_tape,
               of_packs = static_cast<double>(tape.pack_bytes());
    std::lock_guard lock(mutex);
    out.tape_bytes = std::max(out.tape_bytes, of_tape);
    out.found_bytes = std::max(out.found_bytes, of_second + found);
    out.pack_bytes = std::max(out.pack_bytes, of_packs);
    done += batch.rows;
    if (request.progress) request.progress(std::min(total, done * request.ranks->count()), total);
  };
  std::exception_ptr failure;
  try {
    workers.run(std::ssize(batches), evaluate_batch);
  } catch (...) {
    if (request.ranks->count() == 1) throw;
    failure = std::current_exception();  // rethrown after `collect`: the other ranks wait there
  }
  collect(*request.ranks, out, batches.examples());
  if (failure) std::rethrow_exception(failure);
  return out;
}

}  // namespace softalign
