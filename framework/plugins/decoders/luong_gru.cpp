// Stacked GRUs that attend after the step (Luong et al. 2015, section 3): seq/luong_decoder.hpp.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using LuongGru = LuongDecoder<Gru>;
SOFTALIGN_DECODER("luong_gru",
                  LuongGru,
                  "stacked GRUs that attend after the step, input feeding (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
