// The program: parses the command line, runs one command, turns errors into one line and an exit
// status.
#include <new>

#include "framework/app/command.hpp"
#include "framework/config/registry.hpp"

int main(int argc, char** argv) {
  using namespace softalign;
  CLI::App app("softalign: attention experiments that can be trusted and repeated", "softalign");
  app.require_subcommand(1);
  app::Outcome outcome;
  app::add_run(app, outcome);
  app::add_study(app, outcome);
  try {
    for (const std::string& error : Registry::instance().errors()) throw BugError("{}", error);
    app.parse(argc, argv);
    return static_cast<int>(outcome.code);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    fmt::print(stderr, "softalign: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "softalign: out of memory; use a smaller model or batch\n");
    return static_cast<int>(ExitCode::failed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "softalign: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
}
