#include "framework/config/relative_paths.hpp"

#include <string_view>

namespace softalign {
namespace {

void make_relative(OptionNode& node, const std::filesystem::path& folder) {
  const auto change = [&](InputFile& file) { file.path = relative_path(file.path, folder); };
  if (auto* const file = std::get_if<InputFile>(&node.value)) change(*file);
  if (auto* const files = std::get_if<InputFiles>(&node.value))
    for (InputFile& file : *files) change(file);
  for (OptionNode& child : node.children) make_relative(child, folder);
}

// Of an override that has an absolute path in it, only its number: "override 1 ('a=/b')" is "override 1".
std::string without_path(const std::string& origin) {
  constexpr std::string_view kBefore = "= ,[{'\"";
  const std::size_t text = origin.find(" ('");
  if (text == origin.npos) return origin;
  for (std::size_t at = text + 3; at < origin.size(); ++at)
    if (origin[at] == '/' && kBefore.find(origin[at - 1]) != kBefore.npos)
      return origin.substr(0, text);
  return origin;
}

}  // namespace

std::string relative_path(const std::string& path, const std::filesystem::path& folder) {
  if (!std::filesystem::path(path).is_absolute()) return path;
  // From a folder without links, as ".." behind one leads elsewhere.
  const std::filesystem::path from =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder));
  return std::filesystem::path(path).lexically_relative(from).string();
}

void make_relative(OptionNode& root, Origins& origins, const std::filesystem::path& folder) {
  make_relative(root, folder);
  for (auto& [option, origin] : origins)
    origin.file = relative_path(origin.line > 0 ? origin.file : without_path(origin.file), folder);
}

}  // namespace softalign
