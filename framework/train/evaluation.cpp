#include "framework/train/evaluation.hpp"

namespace softalign {

Evaluation::Evaluation(EvaluatedSentences sentences,
                       const Spec& spec,
                       const Dataset& data,
                       Ranks& ranks)
    : data_(data),
      split_(sentences == EvaluatedSentences::dev ? data.dev : data.test),
      stage_(sentences == EvaluatedSentences::dev ? "evaluating dev" : "testing"),
      unknown_(make_unknown_words(spec.evaluate, data.source.get(), *data.target)) {
  const bool dev = sentences == EvaluatedSentences::dev;
  if (!dev || spec.evaluate.search_dev)
    search_ = make_search(dev ? spec.evaluate.dev_search : spec.evaluate.search, spec);
  if (!dev && spec.evaluate.wants_ibm_model1() && data.has_links)
    ibm_model1_.emplace(data.train.examples);
  request_.search = search_.get();
  request_.unknown = unknown_.get();
  request_.source = data.source.get();
  request_.metrics = spec.evaluate.measured();
  request_.ibm_model1 = ibm_model1_ ? &*ibm_model1_ : nullptr;
  request_.row_aligns = spec.evaluate.rows();
  request_.batch = spec.evaluate.batch;
  request_.keep = dev ? spec.record.snapshots : spec.record.alignments;
  request_.heads = !dev;
  request_.self_attention = !dev && spec.record.self_attention.value_or(false);
  request_.decoder_self_attention = !dev && spec.record.decoder_self_attention.value_or(false);
  request_.ranks = &ranks;
}

EvaluatedSplit Evaluation::run(const Model& model, Workers& workers, Observer& observer) {
  request_.progress = [&](Index done, Index total) { observer.stage(stage_, done, total); };
  request_.stop = [&] { return observer.stop_requested(); };
  return evaluate(model, split_, *data_.target, request_, workers);
}

}  // namespace softalign
