// Stacked LSTMs that attend after the step (Luong et al. 2015, section 3): seq/luong_decoder.hpp.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using LuongLstm = LuongDecoder<Lstm>;
SOFTALIGN_DECODER("luong_lstm",
                  LuongLstm,
                  "stacked LSTMs that attend after the step, input feeding (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
