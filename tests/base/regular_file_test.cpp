#include "framework/base/files.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/message.hpp"
#include "tests/scratch.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

std::string refusal(const std::filesystem::path& file) {
  try {
    read_file(file, 100);
  } catch (const Error& error) {
    return fmt::format("{} {}", static_cast<int>(error.code()), error.what());
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(regular_files)

BOOST_AUTO_TEST_CASE(what_is_no_file_is_named_and_nobody_waits) {
  const Scratch folder;
  BOOST_REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  folder.write("file", "bytes");
  folder.write("large", std::string(101, 'x'));
  std::filesystem::create_symlink("file", folder / "link");
  std::filesystem::create_symlink("loop", folder / "loop");
  const std::string at = "3 " + folder.path().string();
  const std::string unknown = "1 " + folder.path().string();  // what it holds
  BOOST_TEST(refusal(folder / "none") == at + "/none: cannot be read: No such file or directory");
  BOOST_TEST(refusal(folder / "loop") ==
             unknown + "/loop: cannot be read: Too many levels of symbolic links; move it away");
  BOOST_TEST(refusal(folder.path()) ==
             unknown + ": is a folder, where a file belongs; move it away");
  BOOST_TEST(refusal(folder / "pipe") ==
             unknown + "/pipe: is a pipe or a device, where a file belongs; move it away");
  BOOST_TEST(refusal("/dev/null") ==
             "1 /dev/null: is a pipe or a device, where a file belongs; move it away");
  BOOST_TEST(refusal(folder / "large") ==
             at + "/large: of 101 bytes, more than such a file ever has; move it away");
  BOOST_TEST(read_file(folder / "link", 5) == "bytes");
}

// A file that begins where nothing can be read: a process's own memory.
BOOST_AUTO_TEST_CASE(a_disk_that_cannot_be_read_is_the_machines_fault) {
  if (!std::filesystem::exists("/proc/self/mem")) return;
  char byte = 0;
  BOOST_TEST(message_of<MachineError>([&] { RegularFile("/proc/self/mem").read(&byte, 1, 0); }) ==
             "/proc/self/mem: cannot be read: Input/output error; check the disk");
}

BOOST_AUTO_TEST_SUITE_END()
