// GRU (Cho et al. 2014); in both directions the encoder of Bahdanau et al. 2015, section 3.2 and
// appendix A.2.1.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using GruEncoder = RecurrentEncoder<Gru>;
SOFTALIGN_ENCODER("gru",
                  GruEncoder,
                  "GRU in one direction or both, stacked (Cho et al. 2014, Bahdanau et al. 2015)");

}  // namespace
}  // namespace softalign
