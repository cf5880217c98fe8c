#include "framework/data/text_file.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "framework/base/types.hpp"
#include "shared.hpp"

using namespace softalign;
using namespace std::string_literals;

namespace {

std::vector<std::string> read_all(const std::string& path) {
  TextFile file(path);
  std::vector<std::string> lines;
  for (std::string line; file.next(line);) lines.push_back(line);
  BOOST_TEST(file.line_number() == std::ssize(lines));
  return lines;
}

std::string refusal(const std::string& path) {
  return message_of<DataError>([&] { read_all(path); });
}

// Returns lines that do not repeat, so that the gzip file fills more than one buffer of the reader.
std::string many_lines(int count) {
  std::string text;
  for (int k = 0; k < count; ++k)
    text += fmt::format("{} {}\n", k, static_cast<unsigned>(k) * 2654435761u % 1000003);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_file)

BOOST_AUTO_TEST_CASE(plain_and_gzip_read_alike) {
  const Scratch scratch;
  const std::string text =
      "\xEF\xBB\xBF"
      "una línea\r\n\nlast, no line end";
  const std::vector<std::string> expected = {"una línea", "", "last, no line end"};
  BOOST_TEST(read_all(scratch.write("plain", text)) == expected);
  BOOST_TEST(read_all(write_gzip(scratch, "packed", text)) == expected);
}

BOOST_AUTO_TEST_CASE(lines_may_cross_buffers) {
  const Scratch scratch;
  const auto lines = read_all(write_gzip(scratch, "many", many_lines(60000)));
  BOOST_TEST(lines.size() == 60000u);
  BOOST_TEST(lines[31234].starts_with("31234 "));
}

BOOST_AUTO_TEST_CASE(what_is_no_corpus_is_named) {
  const Scratch scratch;
  scratch.write("empty", "");
  write_gzip(scratch, "empty2", "");
  BOOST_REQUIRE(mkfifo((scratch / "pipe").string().c_str(), 0600) == 0);
  for (const std::string name :
       {"none", "", "empty", "empty2.gz", "pipe", "../../../../dev/zero"}) {
    const std::string path = (scratch / name).string();
    BOOST_TEST(refusal(path).starts_with(path + ": "), refusal(path));
  }
}

BOOST_AUTO_TEST_CASE(lines_of_whatever_delivers_bytes) {
  std::vector<std::string> parts = {"on", "e\ntwo\r", "\n\nlast"};
  std::size_t next = 0;
  LineReader lines("standard input", [&](std::span<char> buffer) {
    if (next == parts.size()) return std::size_t{0};
    return parts[next++].copy(buffer.data(), buffer.size());
  });
  std::vector<std::string> read;
  std::vector<bool> more;
  for (std::string line; lines.next(line);) {
    read.push_back(line);
    more.push_back(lines.holds_more());
  }
  BOOST_TEST(read == (std::vector<std::string>{"one", "two", "", "last"}));
  BOOST_TEST(more == (std::vector<bool>{true, true, true, false}));
  BOOST_TEST(lines.line_number() == 4);
}

BOOST_AUTO_TEST_CASE(an_endless_line_is_not_read_to_its_end) {
  Index filled = 0;
  LineReader zeros("standard input", [&](std::span<char> buffer) {
    std::fill(buffer.begin(), buffer.end(), 'a');
    filled += std::ssize(buffer);
    return buffer.size();
  });
  std::string line;
  BOOST_CHECK_THROW(zeros.next(line), DataError);
  BOOST_TEST(filled < 2 << 20);
}

BOOST_AUTO_TEST_CASE(other_formats_are_named) {
  const Scratch scratch;
  const std::string noise = "\0\x80\x01"s + std::string(3 << 20, 'x');
  for (const auto& [magic, name] : {std::pair("\xFD"
                                              "7zXZ"s,
                                              "xz"),
                                    {"BZh91AY&SY"s, "bzip2"},
                                    {"\x28\xB5\x2F\xFD"s, "zstd"},
                                    {"PK\x03\x04"s, "zip"}})
    for (const std::string& rest : {noise.substr(0, 3), noise, "\n" + noise}) {
      const std::string path = scratch.write("packed", magic + rest);
      BOOST_TEST(contains(refusal(path), name));
    }
  const std::string twice = write_gzip(scratch, "twice", bytes_of(write_gzip(scratch, "x", "one")));
  BOOST_TEST(contains(refusal(twice), "gzip"));
  for (const std::string& text : {"\xFF\xFE"s + "a\0"s, "\xFE\xFF\x4E\x2D"s})
    BOOST_TEST(contains(refusal(scratch.write("wide", text)), "UTF-16"));
  BOOST_TEST(read_all(scratch.write("text", "BZh9 is no archive\n")).size() == 1u);
}

BOOST_AUTO_TEST_CASE(carriage_returns_alone_end_no_line) {
  const Scratch scratch;
  std::string mac;
  for (int i = 0; i < 10; ++i) mac += "a b c\r";
  for (const std::string& text : {mac, mac + "d", mac + "\n"})
    BOOST_TEST(contains(refusal(scratch.write("mac", text)), "mac:1: old Mac line ends"));
  while (mac.size() < 2 << 20) mac += mac;  // exceeds the limits of words, then of bytes, per line
  for (const std::size_t size : {std::size_t{60000}, mac.size()})
    BOOST_TEST(contains(refusal(scratch.write("mac", mac.substr(0, size))), "old Mac line ends"));
  BOOST_TEST(read_all(scratch.write("mixed", "a\rb\nc\r\n")).size() == 2u);
}

BOOST_AUTO_TEST_CASE(cut_off_gzip_names_the_line_it_reached) {
  const Scratch scratch;
  const std::string whole = write_gzip(scratch, "cut", "one\ntwo\nthree\n");
  std::filesystem::resize_file(whole, std::filesystem::file_size(whole) - 4);
  BOOST_TEST(refusal(whole).starts_with(whole + ":4: "));

  const std::string large = write_gzip(scratch, "large", many_lines(60000));
  std::filesystem::resize_file(large, std::filesystem::file_size(large) / 2);
  BOOST_TEST(contains(refusal(large), "truncated here"));
}

BOOST_AUTO_TEST_CASE(behind_a_gzip_file_only_gzip_or_zeros_may_follow) {
  const Scratch scratch;
  const std::string one = bytes_of(write_gzip(scratch, "one", "one\ntw")),
                    two = bytes_of(write_gzip(scratch, "two", "o\n")),
                    large = bytes_of(write_gzip(scratch, "large", many_lines(60000))),
                    empty = bytes_of(write_gzip(scratch, "empty", ""));
  const std::vector<std::string> lines = {"one", "two"};
  BOOST_TEST(read_all(scratch.write("members", one + two)) == lines);
  BOOST_TEST(read_all(scratch.write("between", one + empty + two + empty)) == lines);
  BOOST_TEST(read_all(scratch.write("padded", one + two + std::string(300000, '\0'))) == lines);
  BOOST_TEST(read_all(scratch.write("both", large + large)).size() == 120000u);
  for (const std::string& behind :
       {std::string("garbage"), "\0\0x"s, "\x1f"s, "\x1f\x8bno"s, two.substr(0, 4), "\n"s})
    for (const std::string& before : {one + two, large}) {
      const std::string path = scratch.write("behind", before + behind);
      BOOST_TEST(refusal(path).starts_with(path + ":"));
    }
  BOOST_TEST(contains(refusal(scratch.write("half", one + two.substr(0, 9))), "half:2: "));
}

BOOST_AUTO_TEST_CASE(damaged_gzip) {
  const Scratch scratch;
  const std::string path = write_gzip(scratch, "bad", many_lines(1000));
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-6, std::ios::end);  // inside the checksum
  file.put('\x55').put('\x55');
  file.close();
  BOOST_CHECK_THROW(read_all(path), DataError);
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_text) {
  const Scratch scratch;
  BOOST_TEST(contains(refusal(scratch.write("latin1", "good\nse\xF1or\n")), ":2: byte 3 (0xf1)"));
  BOOST_TEST(contains(refusal(scratch.write("surrogate", "\xED\xA0\x80\n")), ":1: byte 1"));
  BOOST_TEST(contains(refusal(scratch.write("nul", std::string("a\nb\0c\n", 6))), "nul:2: "));
}

BOOST_AUTO_TEST_CASE(a_line_that_is_no_sentence) {
  const Scratch scratch;
  std::string words;
  for (int k = 0; k < 100000; ++k) words += "a ";
  for (const std::string& line : {words, std::string(5 << 20, 'a')})
    BOOST_TEST(contains(refusal(scratch.write("long", "fine\n" + line + "\n")), "long:2: "));
  BOOST_TEST(read_all(scratch.write("limit", words.substr(0, 2 * kLongestSentence))).size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
