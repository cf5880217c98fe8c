#include "framework/sweep/plan_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "framework/base/hash.hpp"
#include "framework/base/retry.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/scalar.hpp"
#include "framework/config/yaml.hpp"
#include "framework/launch/fields.hpp"
#include "framework/record/text.hpp"

namespace softalign {
namespace {

namespace fs = std::filesystem;

constexpr Index kPlanVersion = 1;
constexpr const char* kRemedy =
    "plans are not edited by hand: `sweep extend` adds rows, another sweep has another name; "
    "removed, it is planned again and keeps its runs";

// The checksum behind a line, of it and of all before it.
std::string chained(const std::string& before, const std::string& line) {
  return sha256_hex(before + "\n" + line).substr(0, 16);
}

std::string row_text(const SweepRow& row) {
  std::string set;
  for (const SweepSetting& setting : row.set)
    set += fmt::format("{}{}: {}", set.empty() ? "" : ", ", setting.path, setting.value.flow());
  return fmt::format(
      "- {{k: {}, run_id: \"{}\", seed: {}, set: {{{}}}}}", row.k, row.run_id, row.seed, set);
}

std::string count_line(std::size_t rows) { return fmt::format("# {} rows", rows); }

// The rows from `first` on, and how many there are then: a plan that is cut ends otherwise.
std::string rows_text(const std::vector<SweepRow>& rows, std::size_t first, std::string check) {
  std::string text;
  const auto add = [&](const std::string& line) {
    check = chained(check, line);
    text += line + "  # " + check + "\n";
  };
  for (std::size_t i = first; i < rows.size(); ++i) add(row_text(rows[i]));
  add(count_line(rows.size()));
  return text;
}

// What optuna needs to know of a parameter.
std::string space_text(const SweepParameter& p) {
  static const char* const kinds[] = {"values", "uniform", "int_uniform", "log_uniform", "normal"};
  std::string text =
      fmt::format("{{path: {}, kind: {}", p.path, kinds[static_cast<std::size_t>(p.kind)]);
  if (p.is_finite()) {
    Value list;
    list.type = Value::Type::list;
    list.items = p.values;
    text += ", values: " + list.flow();
  } else {
    text += fmt::format(", low: {}, high: {}, q: {}",
                        number_for_all(p.low),
                        number_for_all(p.high),
                        number_for_all(p.step));
  }
  return text + "}";
}

std::string header_text(const SweepPlan& plan) {
  std::string seeds, paths, fixed, space;
  for (const Index seed : plan.seeds)
    seeds += (seeds.empty() ? "" : ", ") + fmt::format("{}", seed);
  for (const SweepParameter& p : plan.parameters) paths += (paths.empty() ? "" : ", ") + p.path;
  for (const std::string& path : plan.fixed) fixed += (fixed.empty() ? "" : ", ") + path;
  for (const SweepParameter& p : plan.parameters) space += "- " + space_text(p) + "\n";
  const EarlyTerminateOptions& early = plan.early_terminate;
  std::string text = fmt::format(
      "# Made by `softalign sweep plan`; do not edit: every line is checked.\n"
      "plan_version: {}\nname: {}\nhash: {}\nfile: {}\nmethod: {}\n"
      "metric: {{name: {}, goal: {}}}\n"
      "early_terminate: {{type: {}, min_updates: {}, eta: {}, startup: {}}}\n"
      "seeds: [{}]\nparameters: [{}]\nfixed: [{}]\n",
      kPlanVersion,
      yaml_text(plan.name),
      yaml_text(plan.hash),
      yaml_text(plan.file.string()),
      to_string(plan.method),
      plan.metric.name,
      plan.metric.goal,
      early.type,
      early.min_updates,
      early.eta,
      early.startup,
      seeds,
      paths,
      fixed);
  if (plan.method == SweepMethod::optuna)
    text += fmt::format("search_seed: {}\nspace:\n{}", plan.search_seed, space);
  return text + fmt::format("base_sha256: {}\n", yaml_text(sha256_hex(plan.base)));
}

std::string plan_text(const SweepPlan& plan) {
  const std::string header = header_text(plan);
  const std::string check = chained("", header);
  return header + "rows:  # " + check + "\n" + rows_text(plan.rows, 0, check);
}

[[noreturn]] void edited(const fs::path& file, int line) {
  throw SpecError("{}:{}:1: changed since it was written; {}", file.string(), line, kRemedy);
}

// Cuts "  # <check>" off a line and compares it.
std::string checked(const std::string& line, std::string& check, const fs::path& file, int number) {
  const std::size_t mark = line.rfind("  # ");
  if (mark == std::string::npos) edited(file, number);
  const std::string body = line.substr(0, mark);
  check = chained(check, body);
  if (line.substr(mark + 4) != check) edited(file, number);
  return body;
}

// What a plan says becomes names of files: nothing in it may lead out of the sweep's folder.
std::string name_in(Fields& fields, const char* key) {
  const Value& name = fields.get(key);
  return legal_name(text_of(name, key), name.where);
}

SweepRow read_row(const Value& value) {
  Fields fields(value, "a row");
  SweepRow row;
  row.k = integer_of(fields.get("k"), "k");
  row.run_id = name_in(fields, "run_id");
  row.seed = integer_of(fields.get("seed"), "seed");
  for (const Value::Entry& entry : entries_of(fields.get("set"), "set"))
    row.set.push_back({entry.key, entry.value, entry.where});
  fields.finish();
  return row;
}

void read_header(const Value& root, SweepPlan& plan) {
  Fields fields(root, "the plan");
  if (const Value& version = fields.get("plan_version");
      integer_of(version, "plan_version") != kPlanVersion)
    throw SpecError(
        "{}: plan_version {} is not known here; use the version of softalign that wrote it",
        version.where.str(),
        version.text);
  plan.name = name_in(fields, "name");
  plan.hash = text_of(fields.get("hash"), "hash");
  plan.file = text_of(fields.get("file"), "file");
  const std::string method = text_of(fields.get("method"), "method");
  for (const SweepMethod known :
       {SweepMethod::grid, SweepMethod::random, SweepMethod::zip, SweepMethod::optuna})
    if (method == to_string(known)) plan.method = known;
  read_options(fields.get("metric"), plan.metric, "metric");
  read_options(fields.get("early_terminate"), plan.early_terminate, "early_terminate");
  for (const Value& seed : items_of(fields.get("seeds"), "seeds"))
    plan.seeds.push_back(integer_of(seed, "seeds"));
  for (const Value& path : items_of(fields.get("parameters"), "parameters"))
    plan.parameters.emplace_back().path = path.text;
  for (const Value& path : items_of(fields.get("fixed"), "fixed")) plan.fixed.push_back(path.text);
  if (const Value* const seed = fields.find("search_seed"))
    plan.search_seed = integer_of(*seed, "search_seed");
  fields.find("space");
  fields.get("base_sha256");
  fields.finish();
}

// That what is written can be read again: paths may be called anything.
void check_text(const std::string& text, const SweepPlan& plan) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!is_text(line))
      throw SpecError(
          "{}: its plan would hold a name that is not UTF-8, {}; rename that file or folder",
          printable(plan.file.string(), kWhole),
          printable(line, kWhole));
  }
}

// Whoever appends rows holds the folder.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ >= 0) retry([&] { return flock(descriptor_, LOCK_EX); });
  }
  ~FolderLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

SweepPlan read_plan(const fs::path& folder) {
  const SweepFolder place{folder};
  const fs::path file = place.plan();
  if (!is_there(file))
    throw SpecError("{}: no folder of a sweep: there is no plan.yaml in it", folder.string());
  SweepPlan plan;
  plan.folder = folder;
  if (!is_there(place.base()))
    throw SpecError(
        "{}: is missing; put it back, or remove {} and plan the sweep again: its runs are kept",
        place.base().string(),
        file.string());
  plan.base = read_file(place.base());
  const std::string text = read_file(file);
  std::string header, check;
  int number = 0;
  bool in_rows = false, counted = false;
  for (std::size_t at = 0; at < text.size();) {
    ++number;
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) edited(file, number);  // its last line is cut
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (in_rows) {
      const std::string body = checked(line, check, file, number);
      counted = body == count_line(plan.rows.size());
      if (counted) continue;
      if (!body.starts_with("- ")) edited(file, number);
      plan.rows.push_back(read_row(parse_flow(body.substr(2), {file.string(), number, 1})));
      if (plan.rows.back().k + 1 != std::ssize(plan.rows)) edited(file, number);
    } else if (line.starts_with("rows:")) {
      in_rows = true;
      check = chained("", header);
      if (line != "rows:  # " + check)
        throw SpecError("{}:1:1: the lines before 'rows' were changed since it was written; {}",
                        file.string(),
                        kRemedy);
      read_header(parse_yaml(header, file.string()), plan);
    } else {
      header += line + "\n";
    }
  }
  if (!in_rows || !counted) edited(file, std::max(1, number));
  const std::string sealed = "base_sha256: " + yaml_text(sha256_hex(plan.base));
  if (header.find(sealed + "\n") == std::string::npos)
    throw SpecError(
        "{}:1:1: changed since the sweep was planned; {}", place.base().string(), kRemedy);
  return plan;
}

bool write_plan(const SweepPlan& plan, FileSystem& files) {
  const std::string text = plan_text(plan);
  check_text(plan.base, plan);
  check_text(text, plan);
  check_places(plan.place());
  files.make_folders(plan.folder);
  const fs::path file = plan.place().plan(), base = plan.place().base();
  if (!is_there(file)) {
    const FolderLock lock(plan.folder);
    if (!is_there(file)) {
      if (is_there(base) && read_file(base) != plan.base)
        throw SpecError(
            "{}: stands where this sweep keeps its copy of the base spec, and is none; move it "
            "away, or give the sweep another name or another --out",
            printable(base.string(), kWhole));
      files.write_atomically(base, plan.base);
      files.write_atomically(file, text);
      return true;
    }
  }
  const SweepPlan there = read_plan(plan.folder);
  if (there.hash != plan.hash)
    throw SpecError(
        "{}:1:1: {} holds a plan of the same name with another {}; give this sweep another name, "
        "or "
        "remove that folder",
        plan.file.string(),
        plan.folder.string(),
        plan.base == there.base ? "method, parameters or rules" : "base spec");
  return false;
}

Index append_rows(const SweepPlan& longer, FileSystem& files) {
  check_places(longer.place());
  const fs::path file = longer.place().plan();
  const FolderLock lock(longer.folder);
  const SweepPlan there = read_plan(longer.folder);
  for (std::size_t i = 0; i < std::min(there.rows.size(), longer.rows.size()); ++i)
    if (row_text(there.rows[i]) != row_text(longer.rows[i]))
      throw SpecError("{}: row {} is not that of the sweep any more; nothing was added",
                      file.string(),
                      there.rows[i].k);
  if (longer.rows.size() <= there.rows.size()) return 0;
  const std::string text = read_file(file);
  const std::size_t mark = text.rfind("  # ");
  const std::string check = text.substr(mark + 4, text.size() - mark - 5);
  const std::string more = rows_text(longer.rows, there.rows.size(), check);
  check_text(more, longer);
  files.write_atomically(file, text + more);
  return std::ssize(longer.rows) - std::ssize(there.rows);
}

}  // namespace softalign
