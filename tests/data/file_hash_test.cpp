// Cached file hashes, and the cases in which the cache is not trusted.
#include "framework/data/cache.hpp"

#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "shared.hpp"

using namespace softalign;
namespace {

// A file that has not changed for a while.
const InputFile kOld{SOFTALIGN_SOURCE_DIR "/LICENSE"};

struct Setting {
  Scratch scratch;
  fs::path notes = scratch / "cache/hashes";
  Setting() { setenv("SOFTALIGN_CACHE", (scratch / "cache").string().c_str(), 1); }
  ~Setting() { setenv("SOFTALIGN_CACHE", "", 1); }

  fs::path note_of(const InputFile& file) const { return notes / sha256_hex(file.path); }
  std::string note() const { return bytes_of(note_of(kOld)); }
  // Writes a valid cache note with this text.
  void write(const std::string& text) const {
    write_file(note_of(kOld), text + sha256_hex(text) + "\n");
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(file_hash)

BOOST_AUTO_TEST_CASE(is_read_once) {
  const Setting setting;
  const std::string hash = sha256_file(kOld.path), other(64, 'a');
  BOOST_TEST(remembered_hash(kOld) == hash);
  const std::string note = setting.note();
  std::string text = note.substr(0, note.size() - 65);
  BOOST_REQUIRE(text.ends_with(hash + "\n"));
  setting.write(text.replace(text.size() - 65, 64, other));
  BOOST_TEST(remembered_hash(kOld) == other);  // so the file was not read
  BOOST_TEST(read_hash(kOld) == hash);
  BOOST_TEST(setting.note() == note);
  BOOST_TEST(remembered_hash(kOld) == hash);
}

BOOST_AUTO_TEST_CASE(what_is_not_as_it_was_is_read) {
  const Setting setting;
  const std::string hash = remembered_hash(kOld);
  const std::string note = setting.note();
  for (const std::string what : {"device ", "inode ", "size ", "modified ", "changed "}) {
    std::string text = note.substr(0, note.size() - 65);
    text.replace(text.size() - 65, 64, std::string(64, 'a'));
    char& digit = text[text.find(what) + what.size()];
    digit = digit == '9' ? '8' : '9';
    setting.write(text);
    BOOST_TEST(remembered_hash(kOld) == hash, what);
    BOOST_TEST(setting.note() == note);
  }
}

BOOST_AUTO_TEST_CASE(damaged_notes_are_not_believed) {
  const Setting setting;
  const std::string hash = remembered_hash(kOld);
  const std::string note = setting.note();
  for (std::size_t k = 0; k < note.size(); k += 5) {
    std::string wrong = note;
    wrong[k] = static_cast<char>(wrong[k] ^ 1);
    write_file(setting.note_of(kOld), wrong);
    BOOST_REQUIRE(remembered_hash(kOld) == hash);
    write_file(setting.note_of(kOld), note.substr(0, k));
    BOOST_REQUIRE(remembered_hash(kOld) == hash);
  }
}

// A file may change again within the same tick of the clock, to another text of the same size.
BOOST_AUTO_TEST_CASE(a_file_just_written_is_not_remembered) {
  const Setting setting;
  for (const std::string text : {"one", "two", "six"}) {
    const InputFile file{setting.scratch.write("text", text)};
    BOOST_TEST(remembered_hash(file) == sha256_hex(text));
    BOOST_TEST(!fs::exists(setting.note_of(file)));
  }
}

BOOST_AUTO_TEST_CASE(faults_are_those_of_reading) {
  const Setting setting;
  InputFile file{(setting.scratch / "none").string(), {"x.yaml", 3, 7}};
  BOOST_TEST(message_of<DataError>([&] { remembered_hash(file); }) ==
             "x.yaml:3:7: " + file.path + ": cannot be read: No such file or directory");
}

BOOST_AUTO_TEST_CASE(where_the_cache_is) {
  const Setting setting;
  BOOST_TEST(cache_folder()->string() == (setting.scratch / "cache").string());
  const auto saved = [](const char* name) { return std::string(getenv(name) ? getenv(name) : ""); };
  const std::string home = saved("HOME"), caches = saved("XDG_CACHE_HOME");
  unsetenv("SOFTALIGN_CACHE");
  setenv("HOME", "/h", 1);
  setenv("XDG_CACHE_HOME", "/c", 1);
  BOOST_TEST(cache_folder()->string() == "/c/softalign");
  setenv("XDG_CACHE_HOME", "relative", 1);
  BOOST_TEST(cache_folder()->string() == "/h/.cache/softalign");
  unsetenv("HOME");
  BOOST_TEST(!cache_folder());
  setenv("SOFTALIGN_CACHE", "", 1);
  BOOST_TEST(!cache_folder());
  setenv("HOME", home.c_str(), 1);
  caches.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", caches.c_str(), 1);
}

BOOST_AUTO_TEST_SUITE_END()
