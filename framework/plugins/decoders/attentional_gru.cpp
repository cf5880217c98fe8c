// GRU that attends before each step (Bahdanau et al. 2015, appendix A.2.2): seq/attentional_decoder.hpp.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using AttentionalGru = AttentionalDecoder<Gru>;
SOFTALIGN_DECODER("attentional_gru",
                  AttentionalGru,
                  "GRU that attends before each step (Bahdanau et al. 2015, appendix A)");

}  // namespace
}  // namespace softalign
