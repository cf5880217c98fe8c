// Columns that several metrics share.
#pragma once

#include "framework/eval/counts.hpp"

namespace softalign::columns {

CountColumn nll();            // nats, summed over the target tokens with </s>
CountColumn target_tokens();  // with </s>
CountColumn bleu_stats();     // of the words of hypothesis and reference

}  // namespace softalign::columns
