// softalign report RUN..: one HTML file about a run, a study or a sweep; scripts/report.py makes it.
#include <filesystem>

#include "framework/app/command.hpp"
#include "framework/app/experiments/load.hpp"
#include "framework/app/terminal/output_file.hpp"
#include "framework/app/terminal/runs.hpp"
#include "framework/app/terminal/script.hpp"
#include "framework/base/files.hpp"

namespace softalign::app {
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
  words.emplace_back("--");  // a place may begin with '-'
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
                  "one HTML file about a run, a study or a sweep, with its alignments to explore",
                  "Records",
                  "softalign report results/quickstart -o quickstart.html");
  command
      ->add_option(
          "places",
          arguments->places,
          "the folder of a run, a study or a sweep, a run.h5, or the beginning of a run's id")
      ->required();
  add_results_option(*command, arguments->results);
  arguments->output.add_to(*command,
                           "-o,--output",
                           "the file; default: report.html in that folder; several places need it");
  command->add_flag("--checklist",
                    arguments->checklist,
                    "the reproducibility checklist as Markdown, printed unless -o is given");
  add_plugin_option(*command, arguments->plugins, kMetricsOfPlugins);
  command->callback([arguments] { report(*arguments); });
}

}  // namespace softalign::app
