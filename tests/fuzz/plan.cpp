// A sweep's plan whose checksums are right: an input is its header and its rows, without them.
#include "framework/base/hash.hpp"
#include "framework/config/writer.hpp"
#include "framework/sweep/plan_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

namespace {

std::string checked(const std::string& text, const std::string& base) {
  const auto chained = [](const std::string& before, const std::string& line) {
    return sha256_hex(before + "\n" + line).substr(0, 16);
  };
  const std::size_t rows = std::min(text.find("- "), text.size());
  const std::string header =
      text.substr(0, rows) + fmt::format("base_sha256: \"{}\"\n", sha256_hex(base));
  std::string check = chained("", header), out = header + "rows:  # " + check + "\n";
  const auto add = [&](const std::string& line) {
    check = chained(check, line);
    out += line + "  # " + check + "\n";
  };
  std::size_t count = 0;
  for (std::size_t at = rows; at < text.size(); ++count) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    add(text.substr(at, end - at));
    at = end + 1;
  }
  add(fmt::format("# {} rows", count));
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string base = read_file(base_spec());
  file("plan.yaml", checked(Input(data, size).rest(), base));
  SweepPlan plan;
  if (!accepts([&] { plan = read_plan(folder()); })) return 0;
  for (const SweepRow& row : plan.rows) {
    setting_text(plan, row);
    accepts([&] { row_spec(plan, row, resolve_spec); });
  }
  return 0;
}
