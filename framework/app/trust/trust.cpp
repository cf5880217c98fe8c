// softalign trust [FILE..]: the plugins that records may load, by the SHA-256 of their files.
#include <algorithm>
#include <filesystem>

#include "framework/app/command.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/counted.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/path.hpp"
#include "framework/base/text.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/record/provenance/trusted_plugins.hpp"

namespace softalign::app {
namespace {

using Plugins = std::vector<TrustedPlugin>;

constexpr std::size_t kFewestDigits = 8;  // of a digest that is to be removed

void add(Plugins& plugins, const std::string& given) {
  PluginFile file = read_plugin(given);
  const bool there = std::ranges::any_of(
      plugins, [&](const TrustedPlugin& plugin) { return plugin.sha256 == file.sha256; });
  fmt::print("{}: SHA-256 {}{}\n",
             printable(file.path, kWhole),
             file.sha256,
             there ? ", trusted already" : " is trusted");
  if (!there) plugins.push_back({std::move(file.sha256), std::move(file.path)});
}

// `given`: a file, as it is now or as it was called when it was trusted, or the beginning of a digest.
void remove(Plugins& plugins, const std::string& given) {
  const std::string path = printable(whole_path(given).string(), kWhole);
  std::error_code error;
  const std::string digest = fs::is_regular_file(given, error) ? sha256_file(given) : "";
  const auto removed = std::erase_if(plugins, [&](const TrustedPlugin& plugin) {
    return plugin.path == path || plugin.sha256 == digest ||
           (given.size() >= kFewestDigits && plugin.sha256.starts_with(given));
  });
  if (removed == 0)
    throw SpecError(
        "{}: no plugin of this name or digest is trusted; softalign trust lists those that are",
        given);
  fmt::print("{}: {} trusted no more\n", printable(given, kWhole), counted(removed, "plugin"));
}

void trust(const std::vector<std::string>& given, bool taking_back) {
  const fs::path list = trusted_plugins_file();
  Plugins plugins = read_trusted_plugins(list);
  if (given.empty() && taking_back)
    throw SpecError("--remove: no plugin is named; give its file, or the beginning of its digest");
  if (given.empty()) {
    for (const TrustedPlugin& plugin : plugins)
      fmt::print("{} {}\n", plugin.sha256, printable(plugin.path, kWhole));
    return;
  }
  if (list.empty())
    throw SpecError(
        "neither XDG_CONFIG_HOME nor HOME names a folder for the list of trusted plugins");
  for (const std::string& name : given) (taking_back ? remove : add)(plugins, name);
  write_trusted_plugins(FileSystem::real(), list, plugins);
}

}  // namespace

void add_trust(CLI::App& app, Outcome&) {
  struct Arguments {
    std::vector<std::string> files;
    bool remove = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app,
      "trust",
      "let records load these plugins, wherever they come from; without a file: list them",
      "Trust",
      "softalign trust build/angular.so");
  command->add_option("files",
                      arguments->files,
                      "plugins, .so files: what they are now, not their names, is trusted");
  command->add_flag(
      "--remove", arguments->remove, "take it back; also by the beginning of a SHA-256");
  command->callback([arguments] { trust(arguments->files, arguments->remove); });
}

}  // namespace softalign::app
