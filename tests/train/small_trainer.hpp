// A trainer that takes seconds, without an experiment, and its last checkpoint.
#pragma once

#include "framework/config/spec.hpp"
#include "framework/data/task.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/trainer.hpp"
#include "tests/record/support.hpp"

namespace softalign::test {

struct SmallTrainer {
  // train: more keys of spec.train.
  explicit SmallTrainer(const std::string& train = "")
      : spec(parse_spec<Spec>(
                 "task: {type: reverse, symbols: 4,\n"
                 "       length: {train: [1, 4], dev: [1, 4], test: [1, 4]},\n"
                 "       examples: {train: 6, dev: 2, test: 2}}\n"
                 "model: {embedding: 4, encoder: {type: gru, units: 4},\n"
                 "        decoder: {type: attentional_gru, units: 4},\n"
                 "        attention: {type: global, score: {type: additive, units: 4}}}\n"
                 "train: {" +
                     train + "epochs: 2, batch: {sentences: 2}}\n",
                 "small.yaml")
                 .spec) {}

  // Returns the state that it saves at its end.
  Checkpoint checkpoint() {
    Recorder once(scratch / "once", kRun);
    Trainer(spec, data, *model, once, workers, observer, leader).run();
    const History history = read_history(once.folder());
    CheckpointMark last;
    for (const Frame& frame : history.live)
      if (const auto* mark = std::get_if<CheckpointMark>(&frame)) last = *mark;
    return {last.update, load_checkpoint(once.folder().checkpoints(), last).value()};
  }

  Spec spec;
  Dataset data = make_plugin<TaskKind>(spec.task)->load(1, {});
  std::unique_ptr<Model> model = make_model(spec, data);
  Workers workers{1};
  Observer observer;
  Scratch scratch;
  Recorder recorder{scratch.path(), kRun};
  Leader leader{only_rank()};
  Trainer trainer{spec, data, *model, recorder, workers, observer, leader};
};

}  // namespace softalign::test
