// A small spec with every type of option, and plugins of a test-only kind, for the tests of
// config/.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>

#include "framework/config/options.hpp"
#include "framework/config/registry.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

namespace softalign::example {

struct Nested {
  Index from = 4;
  Index to = 30;
  template <class V>
  void describe(V& v) {
    v("from", from, "shortest", at_least(1));
    v("to", to, "longest", at_least(1));
    v.check("to", from <= to, fmt::format("{} is below from, {}", to, from));
  }
};

struct Stopping {
  std::string metric = "dev/bleu";
  Index patience = 5;
  template <class V>
  void describe(V& v) {
    v("metric", metric, "what must improve");
    v("patience", patience, "evaluations without improvement", at_least(1));
  }
};

struct Example {
  std::string name = "example";
  Index seed = 1;
  bool shuffle = true;
  double rate = 0.1;
  float dropout = 0.1F;
  std::string readout = "maxout";
  std::vector<Index> lengths = {10, 20};
  std::vector<float> betas = {0.9F, 0.999F};
  std::vector<std::string> tags = {};
  std::optional<Index> limit = {};
  std::optional<Stopping> stopping = {};
  Nested length = {};
  InputFile links = {};
  Choice score = {.kind = "fake_score", .type = "dot"};

  template <class V>
  void describe(V& v) {
    v("name", name, "a label", not_in_run_id());
    v("seed", seed, "the root of all random numbers", at_least(0));
    v("shuffle", shuffle, "batches in random order");
    v("rate", rate, "learning rate", positive());
    v("dropout", dropout, "share of units dropped", fraction());
    v("readout", readout, "layer before the softmax", one_of("maxout", "tanh"));
    v("lengths", lengths, "bucket bounds", at_least(1));
    v("betas", betas, "decay of the moments", fraction());
    v("tags", tags, "words for people", not_in_run_id());
    v("limit", limit, "at most so many examples", at_least(1));
    v("stopping", stopping, "when to stop early");
    v("length", length, "of sentences");
    v("links", links, "known alignment");
    v("score", score, "how well a query fits an annotation");
  }
};

}  // namespace softalign::example
