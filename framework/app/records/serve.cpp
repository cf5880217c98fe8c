// softalign serve [FOLDER]: the pages of runs in a browser, while they train; scripts/serve.py makes them.
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
                                  "reports in a browser on this machine, which follow what trains",
                                  "Records",
                                  "softalign serve results");
  command->add_option("folder", arguments->folder, "where the runs are")->capture_default_str();
  command->add_option("--port", arguments->port, "of the address (default: one that is free)")
      ->check(integer(between(0, 65535)));
  command->callback([arguments] {
    become_script("serve.py",
                  {fmt::format("--port={}", arguments->port), "--", arguments->folder},
                  "python3-jinja2");
  });
}

}  // namespace softalign::app
