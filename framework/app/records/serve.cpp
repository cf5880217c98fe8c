// softalign serve, figures: run scripts/serve.py and scripts/figures.py.
#include "framework/app/command.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/terminal.hpp"

namespace softalign::app {

void add_serve(CLI::App& app, Outcome&) {
  struct Arguments {
    std::string folder = "results";
    int port = 0;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app,
                                  "serve",
                                  "serve live reports to a browser on this machine",
                                  "Records",
                                  "softalign serve results");
  command->add_option("folder", arguments->folder, "folder of the runs")->capture_default_str();
  command->add_option("--port", arguments->port, "port of the server (default: a free one)")
      ->check(integer(between(0, 65535)));
  command->callback([arguments] {
    become_script("serve.py",
                  {fmt::format("--port={}", arguments->port), "--", arguments->folder},
                  "python3-jinja2");
  });
}

void add_figures(CLI::App& app, Outcome&) {
  CLI::App* command =
      add_command(app,
                  "figures",
                  "draw figures for papers, as PDF and PNG",
                  "Records",
                  "softalign figures lengths results/reverse --metric bleu\n\nFigures: lengths, "
                  "curves, alignments, images, heatmap, states, or all.\n`softalign figures "
                  "lengths --help` lists the options of a figure.");
  command->prefix_command();
  command->callback([command] {
    std::vector<std::string> words = command->remaining();
    if (words.empty()) words = {"--help"};
    become_script("figures.py", words, "python3-matplotlib");
  });
}

}  // namespace softalign::app
