// Files of sweeps and studies: reading, planning, and the written plan.
#include "framework/study/sweep.hpp"

#include "framework/config/yaml.hpp"
#include "framework/runs/plan.hpp"
#include "framework/runs/run_list.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

namespace {

// At most eight rows, because planning each of them builds a model.
bool is_short(const Sweep& sweep) {
  std::size_t rows = 0;
  for (const SweepPart& part : sweep.parts) rows += std::max<std::size_t>(1, part.variants.size());
  rows *= sweep.seeds.size();
  for (const SweepParameter& p : sweep.parameters) {
    rows *= p.is_finite() && !p.all_types ? p.values.size() : 9;
    if (rows > 8) break;
  }
  return rows <= 8 || (sweep.run_cap && *sweep.run_cap <= 8 && sweep.method == SweepMethod::random);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  base_spec();
  const std::filesystem::path path = file("sweep.yaml", Input(data, size).rest());
  Sweep sweep;
  if (!accepts([&] { sweep = read_sweep(path); })) return 0;
  require(read_sweep(path).text == sweep.text, "two readings differ");
  for (const SweepPart& part : sweep.parts)
    if (part.base.filename() != "base.yaml") return 0;
  if (!is_short(sweep) || !is_small(read_yaml(path))) return 0;
  Plan plan;
  const std::filesystem::path results = folder() / "results";
  if (!accepts([&] { plan = plan_sweep(sweep, {}, results, resolve_spec); })) return 0;
  require(plan.wanted.size() == plan.list.rows.size(), "a row is not wanted");
  write_list(plan.list);
  const RunList back = read_list(plan.list.folder);
  require(back.rows.size() == plan.list.rows.size() && back.hash == plan.list.hash,
          "a plan reads back otherwise");
  for (std::size_t i = 0; i < back.rows.size(); ++i) {
    require(back.rows[i].run_id == plan.list.rows[i].run_id, "a row reads back otherwise");
    row_spec(back, back.rows[i], resolve_spec);  // throws if its run ID differs
    require(back.run(back.rows[i]).root.lexically_normal().string().starts_with(results.string()),
            "a run lies outside the results");
  }
  std::filesystem::remove_all(results);
  return 0;
}
