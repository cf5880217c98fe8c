// Study files: reading and planning.
#include "framework/study/study.hpp"

#include "framework/config/yaml.hpp"
#include "framework/runs/plan_study.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  base_spec();
  const std::filesystem::path path = file("study.yaml", Input(data, size).rest());
  Study study;
  if (!accepts([&] { study = read_study(path); })) return 0;
  std::size_t runs = 0;
  for (const StudyPart& part : study.parts) {
    if (part.base.filename() != "base.yaml") return 0;
    runs += part.variants.size() * study.options.seeds.size();
  }
  if (runs > 8 || !is_small(read_yaml(path))) return 0;
  StudyPlan planned;
  if (!accepts([&] { planned = plan_study(study, {}, folder() / "results", resolve_spec); }))
    return 0;
  require(planned.wanted.size() == runs, "runs are missing");
  const std::string results = (folder() / "results/").string();
  for (const ListedRun& row : planned.list.rows)
    require(planned.list.run(row).root.lexically_normal().string().starts_with(results),
            "a run lies outside the results");
  return 0;
}
