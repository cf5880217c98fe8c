#include "framework/base/regular_file.hpp"

#include "framework/base/error.hpp"

namespace softalign {

void demand_regular_file(const std::filesystem::path& file) {
  const std::string name = printable(file.string(), kWhole);
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status))
    throw DataError(
        "{}: cannot be read: {}", name, error ? error.message() : "No such file or directory");
  if (std::filesystem::is_directory(status))
    throw DataError("{}: is a directory; name a file", name);
  if (!std::filesystem::is_regular_file(status))
    throw DataError("{}: is no regular file but a pipe or a device; write its text to a file first",
                    name);
}

}  // namespace softalign
