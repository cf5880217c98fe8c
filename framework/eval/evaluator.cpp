#include "framework/eval/evaluator.hpp"

#include <mutex>

#include "framework/data/batches.hpp"
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/unicode.hpp"

namespace softalign {
namespace {

// Weights of row b of a teacher-forced batch.
AlignmentMatrix matrix_of(const Model::Forward& forward, const Batch& batch, Index b) {
  const auto row = static_cast<std::size_t>(b);
  AlignmentMatrix matrix{batch.target_lengths[row], forward.positions[row], {}};
  for (Index t = 0; t < matrix.steps; ++t) {
    const View all = forward.weights[static_cast<std::size_t>(t)].value();
    const real* weights = all.data + b * all.shape[1];
    matrix.weights.insert(matrix.weights.end(), weights, weights + matrix.positions);
  }
  return matrix;
}

void score_attention(const Model& model,
                     const AlignmentMatrix& matrix,
                     const Example& example,
                     SentenceResult& result) {
  std::vector<Index> pointed;
  for (Index t = 0; t < matrix.steps; ++t) {
    std::vector<real> row(matrix.weights.begin() + t * matrix.positions,
                          matrix.weights.begin() + (t + 1) * matrix.positions);
    result.attention_entropy += entropy(row);
    ++result.attention_steps;
    if (t < std::ssize(example.target)) pointed.push_back(argmax(row));
  }
  if (!example.links.empty()) result.pointing = point_count(pointed, model.placed(example.links));
}

// Tapes that batches take and give back, so that their memory is found once.
class TapePool {
 public:
  std::unique_ptr<Tape> take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Tape>(Tape::Mode::infer);
    auto tape = std::move(free_.back());
    free_.pop_back();
    return tape;
  }
  void give(std::unique_ptr<Tape> tape) {
    tape->reset();
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(tape));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Tape>> free_;
};

void score_hypothesis(const Hypothesis& hypothesis,
                      const Example& example,
                      const Vocabulary& target,
                      SentenceResult& result) {
  result.searched = true;
  result.hypothesis = hypothesis.tokens;
  result.hypothesis_text = target.join(hypothesis.tokens);
  result.model_score = hypothesis.score;
  result.exact = is_exact(hypothesis.tokens, example.target);
  result.free_running = position_matches(hypothesis.tokens, example.target);
  result.bleu =
      bleu_stats(unicode_words(result.hypothesis_text), unicode_words(example.target_text));
  result.chrf = chrf_stats(result.hypothesis_text, example.target_text);
}

}  // namespace

EvaluatedSplit evaluate(const Model& model,
                        const Split& split,
                        const Vocabulary& target,
                        const EvaluationRequest& request,
                        Workers& workers) {
  const Index total = std::ssize(split.examples);
  EvaluatedSplit out;
  out.sentences.resize(split.examples.size());
  const auto kept = static_cast<std::size_t>(std::min(request.keep, total));
  if (model.aligns()) {
    out.forced.resize(kept);
    if (request.search != nullptr) out.searched.resize(kept);
  }
  std::mutex mutex;
  Index done = 0;
  TapePool tapes;

  const Batches batches = evaluation_batches(split, request.batch);
  workers.run(std::ssize(batches), [&](Index i) {
    if (request.stop && request.stop())
      throw Interrupted("interrupted while evaluating {}", split.name);
    Batch batch = make_batch(split, batches[static_cast<std::size_t>(i)], model.reads_links());
    model.place_links(batch);
    auto borrowed = tapes.take();
    Tape& tape = *borrowed;
    const Model::Forward forward = model.forward(tape, batch, 1);
    for (Index b = 0; b < batch.rows; ++b) {
      const auto row = static_cast<std::size_t>(b);
      const auto at = static_cast<std::size_t>(batch.example[row]);
      const Example example = split.examples[at];
      SentenceResult& result = out.sentences[at];
      result.source_length = std::ssize(example.source);
      result.reference_text = example.target_text;
      for (Index t = 0; t < batch.target_lengths[row]; ++t) {
        const auto k = static_cast<std::size_t>(b * batch.target_steps + t);
        result.nll += static_cast<double>(forward.losses.nll[k]);
        result.teacher_forced +=
            Count{forward.losses.best[k] == batch.target_out[k] ? Index{1} : Index{0}, 1};
      }
      if (!model.aligns()) continue;
      AlignmentMatrix matrix = matrix_of(forward, batch, b);
      score_attention(model, matrix, example, result);
      if (at < kept) out.forced[at] = std::move(matrix);
    }
    if (request.search != nullptr) {
      std::vector<Index> positions(forward.positions.begin(), forward.positions.end());
      const auto hypotheses = request.search->run(model, tape, batch.source_side());
      for (std::size_t row = 0; row < hypotheses.size(); ++row) {
        const auto at = static_cast<std::size_t>(batch.example[row]);
        const Hypothesis& best = hypotheses[row].front();
        score_hypothesis(best, split.examples[at], target, out.sentences[at]);
        if (at < kept && model.aligns())
          out.searched[at] = {static_cast<Index>(best.steps()), positions[row], best.alignment};
      }
    }
    tapes.give(std::move(borrowed));
    std::lock_guard lock(mutex);
    done += batch.rows;
    if (request.progress) request.progress(done, total);
  });
  return out;
}

}  // namespace softalign
