// The small files of a run's folder: status, owner, identity.
//
// An input is the parts status.json, CLAIM, identity.json, spec.yaml, environment.json (fuzz.hpp).
#include "framework/analysis/run.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/published/publish.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const RunFolder run{folder()};
  static const bool made = std::filesystem::create_directories(run.attempt(1));
  require(made, "the folder of an attempt");
  const auto write = [&](const std::filesystem::path& path, const std::string& text) {
    file(path.lexically_relative(run.root).string(), text);
  };
  Input in(data, size);
  for (const std::filesystem::path& path :
       {run.status(), run.claim(1), run.identity(), run.spec(), run.environment(1)})
    write(path, in.part());
  accepts([&] { newest_claim(run); });
  accepts([&] { run_status(run); });
  accepts([&] { check_spec_files(run, "", {}); });
  read_run(run.root);
  History history;
  history.attempts.emplace_back().header.attempt = 1;
  accepts([&] {
    Hdf5Writer record;
    write_provenance(record, run, history);
  });
  return 0;
}
