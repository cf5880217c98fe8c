#include "framework/record/provenance/trusted_plugins.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "framework/base/error.hpp"
#include "framework/base/path.hpp"

namespace softalign {
namespace {

constexpr std::size_t kDigestDigits = 64;  // hexadecimal digits

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// Whoever can write to the list decides what runs.
void check_owner(const fs::path& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return;  // the reader says why
  if ((found.st_uid != geteuid() && found.st_uid != 0) ||
      (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw DataError(
        "{}: others can write to it, so it says nothing about whom you trust; chmod 600 "
        "it if it is yours, or else remove it",
        printable(file.string(), kWhole));
}

}  // namespace

fs::path trusted_plugins_file() {
  const char* const own = std::getenv("XDG_CONFIG_HOME");
  if (own && *own == '/')
    return fs::path(own) / "softalign/trusted_plugins";  // the rest is not valid
  const char* const home = std::getenv("HOME");
  return home && *home == '/' ? fs::path(home) / ".config/softalign/trusted_plugins" : fs::path();
}

std::vector<TrustedPlugin> read_trusted_plugins(const fs::path& file) {
  std::vector<TrustedPlugin> plugins;
  std::error_code error;
  if (file.empty() || !fs::exists(file, error)) return plugins;
  check_owner(file);
  const std::string text = read_file(file);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!is_digest(line.substr(0, kDigestDigits)) || line.size() < kDigestDigits + 2 ||
        line[kDigestDigits] != ' ')
      throw DataError("{}:{}: is no SHA-256 with a path behind it; remove the line",
                      printable(file.string(), kWhole),
                      plugins.size() + 1);
    plugins.push_back({line.substr(0, kDigestDigits), line.substr(kDigestDigits + 1)});
  }
  return plugins;
}

void write_trusted_plugins(FileSystem& system,
                           const fs::path& file,
                           const std::vector<TrustedPlugin>& plugins) {
  std::string text;
  for (const TrustedPlugin& plugin : plugins)
    text += plugin.sha256 + " " + printable(plugin.path, kWhole) + "\n";
  system.make_folders(file.parent_path());
  system.write_atomically(file, text, [](const fs::path& temporary) {
    fs::permissions(temporary, fs::perms::owner_read | fs::perms::owner_write);
  });
}

bool is_trusted(const std::string& sha256) {
  const std::vector<TrustedPlugin> plugins = read_trusted_plugins(trusted_plugins_file());
  return std::any_of(plugins.begin(), plugins.end(), [&](const TrustedPlugin& plugin) {
    return plugin.sha256 == sha256;
  });
}

}  // namespace softalign
