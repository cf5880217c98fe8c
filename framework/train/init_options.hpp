// What parameters begin with instead of random numbers, and which stay so: spec.init.
#pragma once

#include <string>
#include <vector>

#include "framework/config/options.hpp"

namespace softalign {

struct InitOptions {
  InputFile from{.parameters_count = true};
  std::vector<std::string> only;
  InputFile source_embeddings;
  InputFile target_embeddings;
  std::vector<std::string> freeze;
  template <class V>
  void describe(V& v) {
    v("from",
      from,
      "a record, or a run's folder, whose final parameters the model begins with (`*` in `only` "
      "and "
      "`freeze` stands for any characters); the run's identity has what they are, not where",
      with_block());
    v("only",
      only,
      "names of the parameters that are taken, such as encoder.*; empty: all, and all must be "
      "there",
      with_block());
    v.unread("only", from.path.empty(), "init.from names no record");
    v("source_embeddings",
      source_embeddings,
      "word vectors for the source's symbols in word2vec's text form: a symbol and its numbers a "
      "line");
    v("target_embeddings", target_embeddings, "the same for the target's symbols");
    v("freeze", freeze, "names of the parameters that training leaves as they are", with_block());
  }
};

}  // namespace softalign
