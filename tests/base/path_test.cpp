#include "framework/base/files.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "tests/scratch.hpp"

using namespace softalign;
using namespace softalign::test;

BOOST_AUTO_TEST_SUITE(paths)

BOOST_AUTO_TEST_CASE(a_path_is_as_short_as_may_be) {
  const std::map<std::string, std::string> normal = {{"", ""},
                                                     {".", "."},
                                                     {"/", "/"},
                                                     {"a", "a"},
                                                     {"a/", "a/"},
                                                     {"./a", "a"},
                                                     {"a/.", "a"},
                                                     {"a/..", "."},
                                                     {"a/../", "."},
                                                     {"..", ".."},
                                                     {"../..", "../.."},
                                                     {"../a/../b", "../b"},
                                                     {"/..", "/"},
                                                     {"/../a", "/a"},
                                                     {"/a/../..", "/"},
                                                     {"a//b/./c", "a/b/c"},
                                                     {"/a/b/..", "/a"},
                                                     {"a/./b/..", "a"},
                                                     {"a/b/../../..", ".."}};
  for (const auto& [path, shorter] : normal)
    BOOST_TEST(normal_path(path).string() == shorter, path);
}

BOOST_AUTO_TEST_CASE(behind_a_link_two_dots_stay) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "real/deep");
  std::filesystem::create_directory_symlink(scratch / "real/deep", scratch / "link");
  BOOST_TEST(normal_path(scratch / "link/../file") == scratch / "link/../file");
  BOOST_TEST(normal_path(scratch / "link/../../file") == scratch / "link/../../file");
  BOOST_TEST(normal_path(scratch / "./real/deep/../file") == scratch / "real/file");
  BOOST_TEST(whole_path(scratch / "real/../file") == scratch / "file");
}

BOOST_AUTO_TEST_SUITE_END()
