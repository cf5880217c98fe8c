// Columns that several metrics share, and names that columns must not have.
#pragma once

#include <string_view>

#include "framework/eval/counts.hpp"

namespace softalign {

// The axis of /test in a record, and its arrays that are not columns.
inline constexpr std::string_view kSentenceArrays[] = {"sentence",
                                                       "line",
                                                       "source_length",
                                                       "cluster",
                                                       "source",
                                                       "reference",
                                                       "references",
                                                       "hypothesis",
                                                       "replaced_words",
                                                       "model_score"};

}  // namespace softalign

namespace softalign::columns {

CountColumn nll();            // nats, summed over the target tokens with </s>
CountColumn target_tokens();  // with </s>
// The counts of BLEU, on words of the sacreBLEU tokenisation of this name.
CountColumn bleu_stats(const std::string& tokenisation = "none");

}  // namespace softalign::columns
