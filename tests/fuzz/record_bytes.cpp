// A record whose bytes are changed and whose seal is whole: what HDF5 itself makes of it.
//
// An input is a list of changes (u32 place, u16 length, bytes) of a small record.
#include "framework/record/hdf5.hpp"
#include "tests/fuzz/read_record.hpp"

using namespace softalign;
using namespace softalign::fuzz;

namespace {

std::string small_record() {
  Hdf5Writer file;
  file.attributes("",
                  R"({"format": "softalign-run", "format_version": 1, "run_id": "0123456789abcdef",
                          "name": "small", "state": "complete", "complete": 1, "last_update": 2})");
  file.dataset("train/update", {{"update", 2}}, std::vector<std::int64_t>{1, 2});
  file.dataset("train/loss", {{"update", 2}}, std::vector<double>{2.5, 1.5});
  file.dataset("provenance/spec_yaml", {}, std::vector<std::string>{"name: small\n"});
  file.dataset("provenance/identity_json", {}, std::vector<std::string>{"{\"seed\":1}"});
  file.dataset("test/source_length", {{"sentence", 2}}, std::vector<std::int32_t>{3, 4});
  file.dataset("test/source", {{"sentence", 2}}, std::vector<std::string>{"a b c", "d e f g"});
  file.dataset("parameters/w", {{"row", 2}, {"column", 2}}, std::vector<float>{1, 2, 3, 4});
  file.attributes("test", R"({"sentences": 2, "bleu": 21.5})");
  return file.image();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string whole = [] {
    const std::string image = small_record();
    return image.substr(0, image.size() - 20);  // without its seal
  }();
  std::string bytes = whole;
  for (Input in(data, size); !in.empty();) {
    const std::size_t place = in.number<std::uint32_t>() % bytes.size();
    const std::string change = in.text();
    bytes.replace(
        place, std::min(change.size(), bytes.size() - place), change, 0, bytes.size() - place);
  }
  const std::filesystem::path record = file("run.h5", sealed(std::move(bytes)));
  for (std::size_t reading = 0; reading < kReadings; ++reading) read_record(record, reading);
  return 0;
}
