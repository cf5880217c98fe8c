// Frames of a journal, without their framing: a decoded frame is encoded to the same bytes.
#include "framework/record/journal/frames.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  const auto kind = in.number<std::uint8_t>();
  const std::string payload = in.rest();
  accepts([&] {
    const Frame frame = decode(kind, payload);
    require(kind_of(frame) == kind, "another kind of frame");
    require(encode(frame) == payload, "a frame is written with other bytes than it was read from");
  });
  return 0;
}
