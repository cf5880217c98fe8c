// A list of runs with a valid digest. An input is its header and its rows.
#include <nlohmann/json.hpp>

#include "framework/base/hash.hpp"
#include "framework/config/yaml.hpp"
#include "framework/runs/run_list.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

namespace {

std::string checked(std::string text) {
  if (!text.ends_with("\n")) text += "\n";
  const nlohmann::ordered_json sum = {{"rows", std::count(text.begin(), text.end(), '\n') - 1},
                                      {"sha256", sha256_hex(text)}};
  return text + sum.dump() + "\n";
}

// The only base that rows can name.
void write_base() {
  RunList list;
  const std::string text = read_file(base_spec());
  const std::string name = list.add_base(parse_yaml(text, "base"));
  std::filesystem::create_directory(folder() / "bases");
  file("bases/" + name + ".yaml", text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool written = (write_base(), true);
  require(written, "no base");
  file("plan.jsonl", checked(std::string(Input(data, size).rest())));
  RunList list;
  if (!accepts([&] { list = read_list(folder()); })) return 0;
  for (const ListedRun& row : list.rows) {
    require(list.run(row).root.lexically_normal().string().starts_with(folder().string()),
            "a run lies outside its list");
    setting_text(list, row);
    accepts([&] { row_spec(list, row, resolve_spec); });
  }
  return 0;
}
