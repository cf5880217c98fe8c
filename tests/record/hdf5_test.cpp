#include "framework/record/hdf5/hdf5.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "framework/base/error.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/record/published/open_record.hpp"
#include "tests/record/support.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

std::filesystem::path save(Hdf5Writer& writer, const std::filesystem::path& path) {
  FileSystem::real().write_atomically(path, writer.image());
  return path;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hdf5_files)

BOOST_AUTO_TEST_CASE(every_element_type_comes_back) {
  const Scratch scratch;
  const std::vector<Values> all{std::vector<float>{1.5f, -0.0f, std::nanf("")},
                                std::vector<double>{1e-300, 2, 3},
                                std::vector<std::int32_t>{-1, 0, 1},
                                std::vector<std::int64_t>{1LL << 40, -5, 0},
                                std::vector<std::uint8_t>{0, 1, 255},
                                std::vector<std::string>{"", "ñandú", std::string(100000, 'x')}};
  Hdf5Writer writer;
  for (std::size_t i = 0; i < all.size(); ++i)
    writer.dataset("g/h/v" + std::to_string(i), {{"n", 3}}, all[i]);
  writer.dataset("scalar", {}, std::vector<std::string>{"one"});
  const Hdf5Reader reader(save(writer, scratch / "a.h5"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string path = "g/h/v" + std::to_string(i);
    BOOST_TEST(reader.read(path).index() == all[i].index());
    if (i > 0) BOOST_TEST((reader.read(path) == all[i]));
    BOOST_TEST((reader.dims(path) == std::vector<Dimension>{{"n", 3}}));
  }
  BOOST_TEST(std::signbit(std::get<std::vector<float>>(reader.read("g/h/v0"))[1]));
  BOOST_TEST(reader.dims("scalar").empty());
  BOOST_TEST((reader.children("g/h") ==
              std::vector<std::string>{"v0", "n", "v1", "v2", "v3", "v4", "v5"}));
}

BOOST_AUTO_TEST_CASE(attributes_come_back) {
  const Scratch scratch;
  const JsonObject members{{"axes", {"update", "tgt"}},
                           {"flag", 1},
                           {"n", 9007199254740993},
                           {"none", ""},
                           {"text", "señal"},
                           {"x", 0.1}};
  Hdf5Writer writer;
  writer.attributes("g", members);
  writer.attributes("g", {{"long", std::string(70000, 'y')}});
  BOOST_CHECK_THROW(writer.attributes("g", {{"nested", {{"a", 1}}}}), BugError);
  const Hdf5Reader reader(save(writer, scratch / "a.h5"));
  BOOST_TEST(reader.attributes("g") == members);
  BOOST_TEST(std::get<std::vector<std::string>>(reader.read("g/long"))[0].size() == 70000u);
}

BOOST_AUTO_TEST_CASE(dimensions_of_a_group_must_agree) {
  Hdf5Writer writer;
  writer.dataset("g/a", {{"n", 3}}, std::vector<double>{1, 2, 3});
  BOOST_CHECK_THROW(writer.dataset("g/b", {{"n", 2}}, std::vector<double>{1, 2}), BugError);
  BOOST_CHECK_THROW(writer.dataset("g/a", {{"n", 3}}, std::vector<double>{1, 2, 3}), BugError);
  BOOST_CHECK_THROW(writer.dataset("g/m", {{"m", 1}, {"k", 1}}, std::vector<double>{1}), BugError);
}

BOOST_AUTO_TEST_CASE(the_same_contents_have_the_same_bytes) {
  const auto image = [] {
    Hdf5Writer writer;
    writer.dataset("g/a", {{"n", 3}}, std::vector<double>{1, 2, 3});
    writer.attributes("g", {{"b", "c"}});
    return writer.image();
  };
  BOOST_TEST((image() == image()));
}

BOOST_AUTO_TEST_CASE(files_that_are_no_records_are_named_in_a_line) {
  const Scratch scratch;
  const auto file = scratch / "a.h5";
  const auto is_refused = [&] {
    const std::string fault = message_of<DataError>([&] { Record{file}; });
    BOOST_TEST((contains(fault, file.string()) && !contains(fault, "\n")), fault);
  };
  is_refused();
  write_file(file, "text");
  is_refused();
  Hdf5Writer foreign;
  foreign.attributes("", {{"format", "other"}});
  save(foreign, file);
  is_refused();
  Hdf5Writer newer;
  newer.attributes("", {{"format", "softalign-run"}, {"format_version", 2}});
  newer.dataset("a", {{"n", 1000}}, std::vector<double>(1000, 1.0));
  save(newer, file);
  BOOST_CHECK_THROW(Record{file}, NewerFormat);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  is_refused();
  BOOST_CHECK_THROW(Record{scratch.path()}, DataError);
}

BOOST_AUTO_TEST_CASE(a_flipped_bit_is_found) {
  const Scratch scratch;
  const auto file = scratch / "a.h5";
  Hdf5Writer writer;
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) values.push_back(loss_at(i));
  writer.dataset("a", {{"n", 5000}}, values);
  save(writer, file);
  std::string bytes = read_file(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  FileSystem::real().write_atomically(file, bytes);
  BOOST_CHECK_THROW(Hdf5Reader(file).read("a"), DataError);
}

BOOST_AUTO_TEST_CASE(comparison_finds_one_bit_and_leaves_out_the_clock) {
  const Scratch scratch;
  const auto record = [&](const std::string& name, double loss, double wall, std::string text) {
    Hdf5Writer writer;
    writer.dataset("train/loss", {{"update", 1}}, std::vector<double>{loss});
    writer.dataset("train/wall_time", {{"update", 1}}, std::vector<double>{wall});
    writer.dataset("train/tokens_per_s", {{"update", 1}}, std::vector<double>{wall});
    writer.dataset("provenance/host", {}, std::vector<std::string>{text});
    writer.attributes("train", {{"note", text}});
    return save(writer, scratch / name);
  };
  const auto a = record("a", 1.0, 1, "x"), b = record("b", 1.0, 2, "x");
  const auto c = record("c", std::nextafter(1.0, 2.0), 1, "y");
  BOOST_TEST(compare_records(a, b).empty());
  BOOST_TEST(numeric_digest(a) == numeric_digest(b));
  BOOST_TEST((compare_records(a, c) == std::vector<std::string>{"train/loss", "train@note"}));
  BOOST_TEST(numeric_digest(a) != numeric_digest(c));
}

BOOST_AUTO_TEST_CASE(no_number_is_no_number_whatever_its_sign) {
  const Scratch scratch;
  const auto record = [&](const std::string& name, double loss) {
    Hdf5Writer writer;
    writer.dataset("train/loss", {{"update", 1}}, std::vector<double>{loss});
    return save(writer, scratch / name);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto a = record("a", nan), b = record("b", std::copysign(nan, -1));
  BOOST_TEST(compare_records(a, b).empty());
  BOOST_TEST(compare_records(a, record("c", 0)).size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
