// The index of runs behind a valid checksum.
#include "framework/analysis/index_file.hpp"
#include "framework/analysis/summary_bytes.hpp"
#include "framework/data/checksum.hpp"
#include "framework/record/journal/bytes.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteWriter out;  // index_file.cpp has the header
  out.raw("SOFTRUNS");
  out.number<std::uint32_t>(1);
  out.text(build_info().version + " " + build_info().git_commit);
  out.text("results");
  out.raw(Input(data, size).rest());
  out.raw(std::string((Checksum::kBlock - out.bytes().size() % Checksum::kBlock) % Checksum::kBlock,
                      '\0'));
  Checksum sum;
  sum.add(std::as_bytes(std::span(out.bytes())));
  out.number(sum.sum());
  for (const auto& [name, entry] : read_index(file("index", out.bytes()), "results"))
    accepts([&] {
      const std::string again = pack(unpack(entry.summary));
      require(pack(unpack(again)) == again, "a summary reads back otherwise");
    });
  return 0;
}
