// Columns that several metrics share.
#pragma once

#include "framework/eval/counts.hpp"

namespace softalign::columns {

CountColumn nll();            // nats, summed over the target tokens with </s>
CountColumn target_tokens();  // with </s>
CountColumn bleu_stats();     // of the words of hypothesis and reference, as they stand
CountColumn bleu_13a_stats();
CountColumn bleu_char_stats();
CountColumn bleu_intl_stats();

}  // namespace softalign::columns
