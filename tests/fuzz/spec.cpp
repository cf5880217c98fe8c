// Specs: reads, checks, writes and reads again.
#include "framework/config/writer.hpp"
#include "framework/train/load_spec.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string base = base_spec().string();  // for `extends: base.yaml`
  const std::string text = Input(data, size).rest(), name = (folder() / "spec.yaml").string();
  SpecTree tree;
  ResolvedSpec<Spec> resolved;
  if (!accepts([&] {
        tree = parse_tree(text, name);
        resolved = resolve_spec(tree);
      }))
    return 0;
  const auto no_file = [](const InputFile& f) { return f.path; };
  const std::string json = canonical_json(resolved.spec, no_file);
  require(canonical_json(resolve_spec(tree).spec, no_file) == json, "two readings differ");
  const std::string yaml = resolved_yaml(resolved.spec, resolved.origins);
  require(canonical_json(parse_spec<Spec>(yaml, name).spec, no_file) == json,
          "a spec that is written reads otherwise:\n" + yaml);
  if (is_small(tree.root)) accepts([&] { check_spec(resolved); });
  return 0;
}
