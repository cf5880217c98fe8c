// softalign export, report: the contents of runs as tables for other programs, and as a page.
#include <filesystem>
#include <map>

#include "framework/analysis/export.hpp"
#include "framework/analysis/export_links.hpp"
#include "framework/app/command.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/inference/states.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/runs/report.hpp"

namespace softalign::app {

// softalign export RUN|FOLDER.. --format csv: runs, learning curves or test sentences as one table,
// for other programs; or the alignments of one run as links.

namespace {

const std::map<std::string, TableFormat> kFormats = {{"csv", TableFormat::csv},
                                                     {"json", TableFormat::json}};
const std::map<std::string, ExportWhat> kWhat = {{"runs", ExportWhat::runs},
                                                 {"curves", ExportWhat::curves},
                                                 {"sentences", ExportWhat::sentences}};

struct ExportArguments {
  RunsArgument runs;
  std::string format = "csv";
  std::string what = "runs";
  std::vector<std::string> plugins;
  std::string state;
  ReportOptions report;
  std::string module;
  std::optional<Index> head;
  LinkOptions reading;
  bool every_line = false;
  OutputFile file;
};

void write(const OutputFile& file, const std::string& text) {
  if (file.path.empty())
    write_data(text);
  else
    file.write(text);
}

// Refuses an option that has no effect on this table.
void check_used(const CLI::App& command, const std::string& what) {
  const std::map<std::string, std::string> kOnlyOf = {{"--module", "links"},
                                                      {"--head", "links"},
                                                      {"--threshold", "links"},
                                                      {"--row-aligns", "links"},
                                                      {"--state", "states"},
                                                      {"--resamples", "report"},
                                                      {"--sentences", "report"},
                                                      {"--smooth", "report"},
                                                      {"--every-line", "sentences"}};
  for (const auto& [option, only] : kOnlyOf)
    if (command.count(option) > 0 && what != only)
      throw SpecError("{}: has no effect on {}; omit it, or add --what {}", option, what, only);
  if (command.count("--format") > 0 && !kWhat.contains(what))
    throw SpecError("--format: {} have only one format; omit it", what);
}

std::vector<fs::path> paths_of(const ExportArguments& arguments) {
  std::vector<fs::path> all;
  for (const auto& paths : find_runs(arguments.runs.places, arguments.runs.results))
    all.insert(all.end(), paths.begin(), paths.end());
  return all;
}

fs::path one_run(const ExportArguments& arguments) {
  const std::vector<fs::path> runs = paths_of(arguments);
  if (runs.size() != 1)
    throw SpecError("--what {}: takes one run, not {}", arguments.what, runs.size());
  return runs[0];
}

std::string exported_links(const ExportArguments& arguments) {
  const Record record(one_run(arguments));
  const LinkRule rule = arguments.reading.rule(row_aligns_of(record));
  const ExportedLinks links = export_links(record, arguments.module, arguments.head, rule);
  write_error(links.note);
  return links.text;
}

// Principal components of one trained run's vectors.
std::string exported_states(const ExportArguments& arguments) {
  TrainedOptions options;
  options.plugins = arguments.plugins;
  options.state = arguments.state;
  options.note = print_note;
  return json_line(states_json(open_trained({one_run(arguments)}, options)));
}

// Returns ExitCode::failed if a run that belongs in the table cannot be read.
ExitCode export_tables(ExportArguments& arguments) {
  arguments.file.check();
  if (arguments.what == "states") {
    write(arguments.file, exported_states(arguments));
    return ExitCode::done;
  }
  for (const std::string& plugin : arguments.plugins) load_plugin(plugin);
  if (arguments.what == "report") {
    arguments.report.draws.threads = resolve_thread_count(0);
    arguments.report.results = arguments.runs.results;
    write(arguments.file, json_line(report_json(arguments.runs.places, arguments.report)));
    return ExitCode::done;
  }
  if (arguments.what == "links") {
    write(arguments.file, exported_links(arguments));
    return ExitCode::done;
  }
  const Export made = export_runs(paths_of(arguments),
                                  kWhat.at(arguments.what),
                                  kFormats.at(arguments.format),
                                  arguments.every_line);
  std::string faults;
  for (const std::string& fault : made.faults) faults += fault + "\n";
  print_error(faults);
  if (made.runs == 0 && made.unreadable)
    throw MachineError("{}: contains no readable run", arguments.runs.places.front());
  if (made.runs == 0)
    throw DataError("{}: contains no run to export", arguments.runs.places.front());
  write(arguments.file, made.table);
  return made.unreadable ? ExitCode::failed : made.faults.empty() ? ExitCode::done : ExitCode::data;
}

}  // namespace

void add_export(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = add_command(
      app,
      "export",
      "write runs, learning curves, test sentences or links as CSV or JSON",
      "Records",
      "softalign export results/reverse --format csv --what curves -o curves.csv\n\nruns: one row "
      "per run, with its options and metrics. curves: one row per number, by series\nand update. "
      "sentences: one row per test sentence, with the counts of every metric. links: the\nlinks of "
      "one run's alignments in Pharaoh format (i-j, source and target), one line per line of\nthe "
      "text. CSV follows RFC 4180. The same records give the same bytes. Unreadable runs "
      "are\nreported and left out.");
  arguments->runs.add_to(*command)->required();
  command->add_option("--format", arguments->format, "csv or json")
      ->check(CLI::IsMember({"csv", "json"}))
      ->capture_default_str();
  command
      ->add_option("--what",
                   arguments->what,
                   "what to write: runs, curves, sentences, links, states (principal components of "
                   "a model's vectors, as JSON) or report (the data of a report, as JSON)")
      ->check(CLI::IsMember({"runs", "curves", "sentences", "links", "states", "report"}))
      ->capture_default_str();
  command->add_flag(
      "--every-line",
      arguments->every_line,
      "sentences: write a row for every line of the test file, including skipped ones");
  command
      ->add_option("--resamples",
                   arguments->report.draws.resamples,
                   "report: number of bootstrap samples; 0: no tests")
      ->check(integer(between(0, 10'000'000)))
      ->capture_default_str();
  command
      ->add_option("--sentences",
                   arguments->report.sentences,
                   "report: sentences whose alignments are written, from 0 (default: as many as a "
                   "page holds)")
      ->delimiter(',')
      ->check(integer());
  command
      ->add_option("--smooth",
                   arguments->report.smooth,
                   "report: number of updates averaged into a point of a training curve")
      ->check(integer(between(1, 1'000'000'000)));
  command->add_option("--module",
                      arguments->module,
                      "links: the alignments to use: cross (test, teacher-forced), cross_search, "
                      "cross_layer1 (default: the first that the record has)");
  command->add_option("--head", arguments->head, "links: the head to use, from 0 (default: 0)")
      ->check(integer());
  arguments->reading.add_to(*command);
  add_state_option(*command, arguments->state, "states: ");
  add_plugin_option(*command, arguments->plugins, kMetricsOfPlugins);
  arguments->file.add_to(*command, "-o,--output", "write to this file (default: standard output)");
  command->get_option("--force")->needs("--output");
  command->callback([arguments, command, &outcome] {
    check_used(*command, arguments->what);
    outcome.code = export_tables(*arguments);
  });
}

// softalign report RUN..: one HTML file about a run, a study or a sweep, made by scripts/report.py.

namespace {

struct ReportArguments {
  std::vector<std::string> places;
  std::string results = "results";
  OutputFile output;
  std::vector<std::string> plugins;
  bool checklist = false;
};

void report(const ReportArguments& arguments) {
  std::vector<std::string> words;
  if (!arguments.output.path.empty()) words.push_back("--output=" + arguments.output.path);
  if (arguments.output.force) words.emplace_back("--force");
  if (arguments.checklist) words.emplace_back("--checklist");
  for (const std::string& plugin : arguments.plugins) words.push_back("--plugin=" + plugin);
  words.emplace_back("--");  // a path may begin with '-'
  std::error_code error;
  for (const std::string& place : arguments.places)
    words.push_back(fs::exists(place, error) ? place
                                             : find_run({place, arguments.results}).string());
  become_script("report.py", words, "python3-jinja2");
}

}  // namespace

void add_report(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command =
      add_command(app,
                  "report",
                  "write an interactive HTML report about a run, a study or a sweep",
                  "Records",
                  "softalign report results/quickstart -o quickstart.html");
  command
      ->add_option(
          "runs",
          arguments->places,
          "folders of runs, studies or sweeps, a run.h5, or the id of a run; its beginning will do")
      ->required();
  add_results_option(*command, arguments->results);
  arguments->output.add_to(
      *command,
      "-o,--output",
      "write to this file (default: report.html in the folder); required for several folders");
  command->add_flag(
      "--checklist",
      arguments->checklist,
      "write the reproducibility checklist as Markdown instead (default: standard output)");
  add_plugin_option(*command, arguments->plugins, kMetricsOfPlugins);
  command->callback([arguments] { report(*arguments); });
}

}  // namespace softalign::app
