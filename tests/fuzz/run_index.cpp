// The index of runs with a valid checksum.
#include "framework/analysis/run_index.hpp"
#include "framework/base/bytes.hpp"
#include "framework/base/stored.hpp"
#include "framework/data/dataset_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(Input(data, size).rest());
  bytes.resize((bytes.size() + Checksum::kBlock - 1) / Checksum::kBlock * Checksum::kBlock);
  Checksum sum;
  sum.add(std::as_bytes(std::span(bytes)));
  ByteWriter out;
  out.raw(bytes);
  out.number(sum.sum());
  read_index(file("index", out.bytes()), "results");
  accepts([&] {
    const std::string again = packed(unpacked<Run>(bytes));
    require(packed(unpacked<Run>(again)) == again, "a summary reads back otherwise");
  });
  return 0;
}
