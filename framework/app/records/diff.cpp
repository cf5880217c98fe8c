// softalign diff RUN RUN: shows the differences between two runs, from their specs to the bits of their results.
#include <fmt/ranges.h>

#include <array>
#include <limits>

#include "framework/analysis/run_difference.hpp"
#include "framework/app/command.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/text.hpp"

namespace softalign::app {
namespace {

struct DiffArguments {
  std::array<std::string, 2> runs;
  std::string results = "results";
  bool exit_code = false;
  bool json = false;
};

std::string title_of(const Record& record) {
  return fmt::format("{} {}: {}, {}",
                     printable(record.name(), kWhole),
                     printable(record.run_id()),
                     record.state(),
                     counted(record.last_update(), "update"));
}

std::string shown(const std::optional<std::string>& text) {
  return text ? short_digest(*text) : "-";
}

std::string texts(const char* what, const std::vector<TextDifference>& differences) {
  if (differences.empty()) return fmt::format("\n{}: the same\n", what);
  Table table({{what}, {"A", Side::left, 16}, {"B", Side::left, 16}});
  for (const TextDifference& difference : differences)
    table.row({difference.name, shown(difference.a), shown(difference.b)});
  return "\n" + table.fitted();
}

std::string ulps_text(std::uint64_t ulps) {
  if (ulps == std::numeric_limits<std::uint64_t>::max()) return "NaN";
  constexpr std::uint64_t kMany = 1'000'000;  // from here on, only the magnitude matters
  return ulps < kMany ? fmt::format("{}", ulps) : fmt::format("{:.0e}", static_cast<double>(ulps));
}

std::string joined(const std::vector<std::string>& names) {
  return printable(fmt::format("{}", fmt::join(names, ", ")), kWhole);
}

std::string series(const std::vector<SeriesDifference>& all) {
  Table table({{"series"},
               {"differ", Side::right},
               {"first at", Side::right},
               {"A", Side::right},
               {"B", Side::right},
               {"ulp", Side::right}});
  std::vector<std::string> same;
  for (const SeriesDifference& one : all)
    if (one.different == 0)
      same.push_back(one.name);
    else
      table.row({one.name,
                 fmt::format("{}/{}", one.different, one.compared),
                 fmt::format("{}", one.first),
                 fmt::format("{:.6g}", one.a),
                 fmt::format("{:.6g}", one.b),
                 ulps_text(one.ulps)});
  if (all.empty()) return "";
  if (table.empty()) return "\nseries: the same\n";
  return fmt::format(
      "\n{}{}", table.fitted(), same.empty() ? "" : fmt::format("the same: {}\n", joined(same)));
}

std::string test(const RunDifference& difference) {
  const auto number = [](const std::optional<double>& x) {
    return x ? fmt::format("{:.4f}", *x) : "-";
  };
  Table table({{"test"}, {"A", Side::right}, {"B", Side::right}, {"B - A", Side::right}});
  std::vector<std::string> same;
  for (const MetricDifference& metric : difference.test)
    if (metric.a == metric.b)
      same.push_back(metric.name);
    else
      table.row({metric.name,
                 number(metric.a),
                 number(metric.b),
                 metric.a && metric.b ? fmt::format("{:+.4g}", *metric.b - *metric.a) : "-"});
  if (difference.test.empty()) return "";
  std::string text = table.empty() ? "\ntest: the same\n" : "\n" + table.fitted();
  if (!table.empty() && !same.empty()) text += fmt::format("the same: {}\n", joined(same));
  if (!difference.same_test_set) return text + "the test sentences are not the same\n";
  return text + fmt::format("hypotheses: {} of {} differ\n",
                            difference.other_hypotheses,
                            difference.hypotheses);
}

std::string part_text(const PartDifference& part, const ParameterDifference& parameters) {
  if (!part.in_a || !part.in_b) return part.in_a ? "only in A" : "only in B";
  if (part.different == 0) return "the same bits";
  if (part.name != "parameters")
    return fmt::format("{} of its datasets and attributes differ", part.different);
  std::string text = fmt::format("{} of {} differ", parameters.different, parameters.common);
  if (!parameters.largest.empty())
    text += fmt::format(", {} ulp in {}", ulps_text(parameters.ulps), parameters.largest);
  if (parameters.others > 0) text += fmt::format("; {} unmatched", parameters.others);
  return text;
}

std::string parts(const RunDifference& difference) {
  Table table({{"bit for bit"}, {"", Side::left, 20}});
  for (const PartDifference& part : difference.parts)
    table.row({part.name, part_text(part, difference.parameters)});
  return "\n" + table.fitted();
}

Json json_of(const Record& record) {
  return {{"name", record.name()},
          {"run_id", record.run_id()},
          {"record", record.file().string()},
          {"state", record.state()},
          {"last_update", record.last_update()}};
}

ExitCode diff(const DiffArguments& arguments) {
  const Record a(find_run({arguments.runs[0], arguments.results})),
      b(find_run({arguments.runs[1], arguments.results}));
  const RunDifference difference = difference_of_runs(a, b);
  if (arguments.json) {
    Json json = {{"a", json_of(a)}, {"b", json_of(b)}};
    json.update(difference_json(difference));
    print_json(json);
  } else {
    print_text("A  {}\nB  {}\n{}{}{}{}{}{}",
               title_of(a),
               title_of(b),
               texts("spec", difference.spec),
               texts("data", difference.data),
               texts("environment", difference.environment),
               series(difference.series),
               test(difference),
               parts(difference));
  }
  return arguments.exit_code && !difference.same_bits() ? ExitCode::check : ExitCode::done;
}

}  // namespace

void add_diff(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App* command =
      add_command(app,
                  "diff",
                  "show how two runs differ: spec, data, environment, numbers, bits",
                  "Records",
                  "softalign diff 3f2a 81c0\n\nThe exit status is 0 even if the runs differ; with "
                  "--exit-code it is 4 if their results, as\ncompared by verify, are not equal bit "
                  "for bit. An ulp is the distance between neighbouring\nfloating-point numbers: "
                  "of 64 bits in a series, of 32 bits in parameters.");
  command
      ->add_option("run",
                   arguments->runs[0],
                   "folder, run.h5 or id of a run; the beginning of an id will do")
      ->required();
  command->add_option("other", arguments->runs[1], "the other run")->required();
  add_results_option(*command, arguments->results);
  command->add_flag("--exit-code", arguments->exit_code, "exit with 4 if the results differ");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &outcome] { outcome.code = diff(*arguments); });
}

}  // namespace softalign::app
