#include "framework/app/terminal/load.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <filesystem>

#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/config/plugin_loader.hpp"

namespace softalign::app {
void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins, const char* help) {
  command.add_option("--plugin", plugins, help)
      ->allow_extra_args(false)  // the word after FILE is the next argument
      ->check([](const std::string& file) {
        return file.empty() ? std::string("empty path; give the path of a plugin's .so file")
                            : std::string();
      });
}

void add_threads_option(CLI::App& command, int& threads, const char* help) {
  command.add_option("--threads", threads, help)->check(integer(between(0, 1024)));
}

void add_size_option(CLI::App& command, SizeCheck& sizes) {
  command.add_flag_callback(
      "--no-size-check",
      [&sizes] { sizes.refuse = false; },
      "run even if the estimated memory exceeds that of the machine");
}

void SpecArguments::add_to(CLI::App& command) {
  command.add_option("spec", file, "YAML file of the experiment")->required();
  command.add_option("overrides",
                     overrides,
                     "changes to the spec: train.epochs=3 model.attention.score.type=dot; "
                     "~train.epochs restores the default");
  add_plugin_option(command, plugins);
}

bool is_override(std::string_view argument) {
  return argument.find('=') != argument.npos || argument.starts_with('~');
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    write_error(fmt::format("note: {}\n", printable(note, kWhole)));
}

ResolvedSpec<Spec> load(const SpecArguments& arguments, const std::string& results) {
  std::error_code none;
  const fs::path shipped =
      program_file().parent_path().parent_path() / "share/softalign" / arguments.file;
  if (!fs::exists(arguments.file, none) && fs::is_regular_file(shipped, none))
    throw SpecError("{}: no such file; softalign has one of this name: {}",
                    arguments.file,
                    short_path(shipped));
  auto resolved =
      load_with_plugins(load_tree(arguments.file, numbered_overrides(arguments.overrides)),
                        arguments.plugins,
                        results);
  print_notes(resolved.notes);
  return resolved;
}

}  // namespace softalign::app
