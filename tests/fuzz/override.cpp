// Overrides of the command line, one per line, applied to a spec.
#include "framework/base/text.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/writer.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SpecTree base = load_tree(base_spec());
  const std::string text = Input(data, size).rest();
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size() && lines.size() < 16;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  SpecTree tree = base;
  if (!accepts([&] {
        for (const Override& change : numbered_overrides(lines))
          apply(tree.root, change, tree.notes);
      }))
    return 0;
  ResolvedSpec<Spec> resolved;
  if (!accepts([&] { resolved = resolve_spec(tree); })) return 0;
  const auto no_file = [](const InputFile& f) { return f.path; };
  const std::string yaml = resolved_yaml(resolved.spec, resolved.origins);
  require(canonical_json(parse_spec<Spec>(yaml, (folder() / "again.yaml").string()).spec,
                         no_file) == canonical_json(resolved.spec, no_file),
          "a spec that is written reads otherwise:\n" + yaml);
  return 0;
}
