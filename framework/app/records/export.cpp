// softalign export RUN|FOLDER.. --format csv: runs, learning curves or test sentences as one table,
// for other programs.
#include <map>

#include "framework/analysis/export.hpp"
#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/models/trained.hpp"
#include "framework/app/records/report_json.hpp"
#include "framework/app/records/runs.hpp"
#include "framework/app/terminal/output_file.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/record/file.hpp"

namespace softalign::app {
namespace {

const std::map<std::string, TableFormat> kFormats = {{"csv", TableFormat::csv},
                                                     {"json", TableFormat::json}};
const std::map<std::string, ExportWhat> kWhat = {{"runs", ExportWhat::runs},
                                                 {"curves", ExportWhat::curves},
                                                 {"sentences", ExportWhat::sentences}};

struct Arguments {
  std::vector<std::string> places;
  std::string results = "results";
  std::string format = "csv";
  std::string what = "runs";
  std::vector<std::string> plugins;
  PairedTestOptions draws;
  OutputFile file;
};

void write(const OutputFile& file, const std::string& table) {
  if (file.path.empty())
    write_data(table);
  else if (file.force)
    FileSystem::real().write_atomically(file.path, table);
  else if (!FileSystem::real().create_once(file.path, table))
    file.check();  // somebody made it meanwhile
}

void export_tables(Arguments& arguments) {
  arguments.file.check();
  for (const std::string& plugin : arguments.plugins) load_plugin(plugin);
  if (arguments.what == "report") {
    arguments.draws.threads = threads_or_all(0);
    const Json report = report_json(arguments.places, arguments.results, arguments.draws);
    return write(arguments.file, json_line(report));
  }
  std::vector<std::filesystem::path> runs;
  for (const GivenRun& run : given_runs(arguments.places, arguments.results))
    runs.push_back(run.place);
  const Export made = export_runs(runs, kWhat.at(arguments.what), kFormats.at(arguments.format));
  std::string faults;
  for (const std::string& fault : made.faults) faults += fault + "\n";
  print_error(faults);
  if (made.runs == 0) throw DataError("{}: no run there to export", arguments.places.front());
  write(arguments.file, made.table);
}

}  // namespace

void add_export(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app,
      "export",
      "runs, learning curves or test sentences as a table for other programs",
      "Records",
      "softalign export results/reverse --format csv --what curves -o curves.csv\n\n"
      "runs: a row a run, its options and metrics. curves: a row a number, by series and update.\n"
      "sentences: a row a test sentence, with the counts behind every metric. CSV is that of\n"
      "RFC 4180. The same records give the same bytes. Runs that cannot be read are named and left "
      "out.");
  command
      ->add_option("runs", arguments->places, "runs, as `show` takes them, or folders above some")
      ->required();
  command->add_option("--out", arguments->results, "where records are, to find a run by its id")
      ->capture_default_str();
  command->add_option("--format", arguments->format, "csv or json")
      ->check(CLI::IsMember({"csv", "json"}))
      ->capture_default_str();
  command
      ->add_option("--what",
                   arguments->what,
                   "runs, curves, sentences, or report: all that a report draws, as JSON")
      ->check(CLI::IsMember({"runs", "curves", "sentences", "report"}))
      ->capture_default_str();
  command
      ->add_option("--resamples",
                   arguments->draws.resamples,
                   "of report: draws of the bootstrap; with 0 nothing is compared")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  add_plugin_option(*command, arguments->plugins, kMetricsOfPlugins);
  arguments->file.add_to(*command, "-o,--output", "a new file (default: standard output)");
  command->callback([arguments] { export_tables(*arguments); });
}

}  // namespace softalign::app
