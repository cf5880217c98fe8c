// The examples that a task reads.
#pragma once

#include "framework/data/task.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace softalign::fuzz {

// Loads the data of the spec's task and calls `on_example(data, example)` for each example. All
// tokens must be of the vocabularies, all links within their sentences or images.
template <class OnExample>
void examples_of(const Spec& spec, const OnExample& on_example) {
  const Dataset data = make_plugin<TaskKind>(spec.task)->load(1, {});
  for (const Split* split : {&data.train, &data.dev, &data.test})
    for (const Example example : split->examples) {
      for (const Token token : example.source) data.source->symbol(token);
      for (const Token token : example.target) data.target->symbol(token);
      const Index source = data.source ? std::ssize(example.source)
                                       : std::ssize(example.frames) / data.frames().size;
      for (const Link& link : example.links)
        require(link.source < source && link.target < std::ssize(example.target),
                "a link outside its sentence");
      on_example(data, example);
    }
}

}  // namespace softalign::fuzz
