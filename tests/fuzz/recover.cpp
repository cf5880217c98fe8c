// Records rebuilt from journals: refused, or readable.
//
// For the input see journal_file.hpp.
#include "framework/record/journal/history.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/record/published/publish.hpp"
#include "tests/fuzz/journal_file.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const RunFolder run{folder()};
  Input in(data, size);
  file(run.journal(1).filename().string(), journal_file(in).bytes);
  std::filesystem::remove(run.record());
  if (accepts([&] { publish(FileSystem::real(), run, read_history(run)); }))
    numeric_digest(run.record());
  return 0;
}
