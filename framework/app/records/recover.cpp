// softalign recover RUN: makes run.h5 from the journals of a run that was killed.
#include "framework/app/command.hpp"
#include "framework/app/terminal/runs.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/record/published/publish.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

void add_recover(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<RunArgument>();
  CLI::App* command = add_command(app,
                                  "recover",
                                  "make the record of a run that was killed, from its journals",
                                  "Records",
                                  "softalign recover 3f2a");
  arguments->add_to(*command);
  command->callback([arguments] {
    const RunFolder run = find_run_folder(arguments->run, arguments->results);
    recover(FileSystem::real(), run, Spec::options_outside_run_id());
    const Record record(run.record());
    print_text("{}: {}, {}\n",
               short_path(record.file()),
               record.complete() ? "complete" : "not complete; run its spec again to go on",
               counted(record.last_update(), "update"));
  });
}

}  // namespace softalign::app
