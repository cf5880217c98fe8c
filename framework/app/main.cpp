// The program: parses the command line, runs one command, turns errors into lines on standard error
// and an exit status.
#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <filesystem>
#include <new>
#include <system_error>

#include "framework/app/command.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/writer.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {
namespace {

constexpr const char* kDiskFull = "standard output cannot be written; is the disk full?";

int fail(std::string_view text, ExitCode code) {
  print_error(text);
  return static_cast<int>(code);
}

// Distinguishes errors of the operating system about a given name (usage) from those of the machine (failed).
ExitCode code_of(const std::error_code& error) {
  const bool named = error == std::errc::filename_too_long || error == std::errc::invalid_argument;
  return named ? ExitCode::usage : ExitCode::failed;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// Returns "; did you mean 'run'?", also for names that other programs give to a command.
std::string suggested_command(const std::string& given, const std::vector<std::string>& names) {
  constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
      {"train", "run"}, {"fit", "run"}, {"predict", "translate"}, {"test", "evaluate"}};
  if (given.ends_with(".yaml")) return fmt::format("; did you mean 'run {}'?", printable(given));
  for (const auto& [other, ours] : kElsewhere)
    if (given == other) return fmt::format("; did you mean '{}'? see softalign --help", ours);
  return suggestion(given, names);
}

// The hint for an unknown option that is a key of the spec: "; options of the spec are written as KEY=VALUE".
std::string suggested_override(const CLI::App& command, std::string_view option) {
  if (!command.get_option_no_throw("overrides") && !command.get_option_no_throw("specs")) return "";
  std::string name(option.substr(option.find_first_not_of('-')));
  name.resize(std::min(name.find('='), name.size()));
  std::ranges::replace(name, '-', '_');
  std::string path;
  const auto search = [&](const OptionNode& node, const auto& again) -> void {
    const std::string end = fmt::format(".{}", name_here(name));
    if (path.empty() && ("." + node.path).ends_with(end)) path = node.path;
    for (const OptionNode& child : node.children) again(child, again);
  };
  search(values_of(Spec()), search);
  return path.empty() ? "" : fmt::format("; options of the spec are written as {}=VALUE", path);
}

// Throws SpecError for an unknown command; CLI11 would only say that a subcommand is required.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const auto names = names_of(app.get_subcommands([](const CLI::App*) { return true; }));
  if (std::find(names.begin(), names.end(), argv[1]) == names.end())
    throw SpecError("unknown command '{}'{}", argv[1], suggested_command(argv[1], names));
  const CLI::App& command = *app.get_subcommand(argv[1]);
  const auto inner = names_of(command.get_subcommands([](const CLI::App*) { return true; }));
  if (inner.empty() || argc < 3 || argv[2][0] == '-') return;
  if (std::find(inner.begin(), inner.end(), argv[2]) == inner.end())
    throw SpecError("unknown command '{} {}'{}", argv[1], argv[2], suggestion(argv[2], inner));
}

// Applies `--color WHEN`, which may come before or after the command, and returns the command line without it,
// ended by a null pointer. Throws SpecError.
std::vector<char*> without_colour(int argc, char** argv) {
  constexpr std::string_view kOption = "--color";
  std::vector<char*> words;
  bool options = true;  // before "--"
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    options = options && word != "--";
    if (!options || (word != kOption && !word.starts_with("--color="))) {
      words.push_back(argv[i]);
      continue;
    }
    std::string when(word.substr(std::min(word.size(), kOption.size() + 1)));
    if (word == kOption && i + 1 < argc) when = argv[++i];
    const std::vector<std::string> legal = {"auto", "always", "never"};
    if (std::ranges::find(legal, when) == legal.end())
      throw SpecError("--color: '{}'{}", printable(when), suggestion(when, legal));
    set_colours(when);
  }
  words.push_back(nullptr);
  return words;
}

// Refuses a closed standard output, except for commands that produce a record or an exit status: all others only print.
void check_output(std::string_view command, bool closed) {
  constexpr std::string_view kMoreThanOutput[] = {
      "run", "study", "sweep", "validate", "verify", "recover", "check"};
  if (closed && std::find(std::begin(kMoreThanOutput), std::end(kMoreThanOutput), command) ==
                    std::end(kMoreThanOutput))
    throw MachineError("standard output is closed, so the output of this command would be lost");
}

// Describes an error of the command line in one line.
std::string fault(CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty())
    return app.remaining().empty()
               ? "missing command; see softalign --help"
               : fmt::format("unknown option '{}'; see softalign --help", app.remaining().front());
  std::string words = chosen.front()->get_name();
  const CLI::App* innermost = chosen.front();
  for (auto deeper = innermost->get_subcommands(); !deeper.empty();
       deeper = innermost->get_subcommands()) {
    innermost = deeper.front();
    words += " " + innermost->get_name();
  }
  const CLI::App& command = *innermost;
  std::string text = error.what();
  for (const std::string& extra : command.remaining()) {
    if (extra.empty() || extra == "--") continue;
    if (extra[0] != '-') {
      text = fmt::format("unexpected argument '{}'", extra);
      break;
    }
    std::vector<std::string> legal;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) legal.push_back("--" + name);
    const std::string override = suggested_override(command, extra);
    text = fmt::format(
        "unknown option '{}'{}", extra, override.empty() ? suggestion(extra, legal) : override);
    break;
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  constexpr std::string_view kRequired = " is required";  // CLI11's text for a missing argument
  if (text.ends_with(kRequired))
    text = fmt::format("missing argument '{}'", text.substr(0, text.size() - kRequired.size()));
  return fmt::format("{}; see softalign {} --help", text, words);
}

// Wraps the descriptions of options and commands to the width of standard output.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return beside_name(option->get_description());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return fmt::format("  {:<{}}{}\n",
                       command->get_display_name(),
                       get_column_width() - 2,
                       beside_name(command->get_description(), get_column_width()));
  }

 private:
  std::string beside_name(const std::string& text, std::size_t indent = 0) const {
    constexpr std::size_t kNarrowest = 30;
    const std::size_t columns = output_columns(), taken = get_column_width();
    const auto lines = wrapped(text, columns < taken + kNarrowest ? kNarrowest : columns - taken);
    return fmt::format("{}", fmt::join(lines, "\n" + std::string(indent, ' ')));
  }
};

int run_program(int argc, char** argv, bool closed) {
  CLI::App app("softalign: reproducible attention experiments", "softalign");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag(
      "-V,--version", "softalign " + build_info().version, "print the version and exit");
  app.add_option(
      "--color",
      "colour the output: auto (on a terminal, unless $NO_COLOR is set), always or never");
  app.require_subcommand(1);
  app.footer(
      "Example:\n  softalign run configs/reverse.yaml train.epochs=2\n\n`softalign describe spec` "
      "lists the keys of a spec; configs/ (installed:\nshare/softalign/configs/) has specs to "
      "start from.");
  Outcome outcome;
#define SOFTALIGN_ADD(name) add_##name(app, outcome);
  SOFTALIGN_COMMANDS(SOFTALIGN_ADD)
#undef SOFTALIGN_ADD
  try {
    gemm_variant();  // refuses a SOFTALIGN_ISA that this machine does not support
    for (const std::string& error : Registry::instance().errors()) throw BugError("{}", error);
    std::vector<char*> words = without_colour(argc, argv);
    const int count = static_cast<int>(words.size()) - 1;
    check_command(app, count, words.data());
    if (count > 1) check_output(words[1], closed);
    app.parse(count, words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return fail(fault(app, error), ExitCode::usage);
    app.exit(error);  // --help and --version
  } catch (const Error& error) {
    return fail(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return fail("out of memory; use a smaller model or batch", ExitCode::failed);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(
        fmt::format("{}: {}", printable(error.path1().string(), kWhole), error.code().message()),
        code_of(error.code()));
  } catch (const std::system_error& error) {
    if (output_is_closed()) return static_cast<int>(outcome.code);
    return fail(std::ferror(stdout) != 0 ? kDiskFull : error.what(), ExitCode::failed);
  } catch (const std::exception& error) {
    return fail(message_of(error), ExitCode::failed);
  } catch (...) {
    return fail(
        "a plugin threw something other than a std::exception; let it throw softalign::SpecError "
        "or softalign::BugError",
        ExitCode::failed);
  }
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!written && !output_is_closed()) return fail(kDiskFull, ExitCode::failed);
  return static_cast<int>(outcome.code);
}

}  // namespace

std::vector<std::string> error_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

void print_error(std::string_view text) {
  std::fflush(stdout);  // so that earlier output comes first
  const std::string ours = coloured("softalign:", has_colours(STDERR_FILENO) ? "1;31" : "") + " ";
  for (const std::string& line : error_lines(text))
    write_error(fmt::format(
        "{}{}\n", begins_with_position(line) ? "" : ours, shortened(printable(line, kWhole))));
}

CLI::App* add_command(CLI::App& app,
                      const char* name,
                      const char* summary,
                      const char* heading,
                      const char* example) {
  CLI::App* command = app.add_subcommand(name, summary);
  command->group(heading);
  command->footer(fmt::format("Example:\n  {}", example));
  return command;
}

}  // namespace softalign::app

int main(int argc, char** argv) {
  const bool closed = fcntl(STDOUT_FILENO, F_GETFD) == -1;
  // The number of a closed standard stream would go to the next file opened, such as the journal.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", O_RDWR) == -1) return 1;
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for the width of words; numbers keep their format
  softalign::prepare_process();
  return softalign::app::run_program(argc, argv, closed);
}
