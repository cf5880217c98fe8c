// Attention matrices in the packed form that a page's script reads.
#include "framework/analysis/packed_alignments.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "framework/analysis/export_links.hpp"
#include "framework/record/published/alignments.hpp"
#include "tests/scratch.hpp"

using namespace softalign;

namespace {

// Unpacks weights in the same way as the page's script.
std::vector<int> unpacked(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<int> bytes, steps;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    int bits = 0, known = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t digit = digits.find(text[i + k]);
      known += digit != digits.npos ? 6 : 0;
      bits = bits << 6 | (digit == digits.npos ? 0 : static_cast<int>(digit));
    }
    for (int k = 0; k < known / 8; ++k) bytes.push_back(bits >> (16 - 8 * k) & 255);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != 0)
      steps.push_back(bytes[i]);
    else
      steps.insert(steps.end(), usize(bytes[++i]), 0);
  return steps;
}

// Matrices of `sentences` sentences, for two updates and two heads.
std::vector<Alignment> matrices(Index sentences, unsigned seed) {
  std::vector<Alignment> all;
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> weight(0, 1);
  for (Index update : {5, 10})
    for (Index i = 0; i < sentences; ++i)
      for (Index head : {0, 1}) {
        Alignment& a =
            all.emplace_back(Alignment{"cross", update, i, head, {"a", "b\nc"}, {"x"}, {}, {}});
        for (int k = 0; k < 2; ++k) a.weights.push_back(weight(random));
        a.gold = {2, 1};
      }
  return all;
}

std::size_t size_of(const JsonObject& made) {
  std::size_t size = 0;
  for (const auto& text : made["texts"]) size += text.get_ref<const std::string&>().size();
  for (const auto& pane : made["panes"])
    for (const auto& heads : pane["weights"])
      for (const auto& packs : heads)
        for (const auto& text : packs) size += text.get_ref<const std::string&>().size();
  return size;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(packed_matrices)

BOOST_AUTO_TEST_CASE(weights_come_out_as_they_went_in) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const std::size_t size : {1, 2, 3, 254, 255, 256, 700, 5000})
    for (const double sharp : {1.0, 8.0, 400.0}) {
      std::vector<float> weights;
      for (std::size_t i = 0; i < size; ++i)
        weights.push_back(static_cast<float>(std::pow(uniform(random), sharp)));
      const std::vector<int> steps = unpacked(packed(weights));
      BOOST_REQUIRE(steps.size() == size);
      for (std::size_t i = 0; i < size; ++i)
        BOOST_REQUIRE(std::abs(steps[i] / 255.0 - static_cast<double>(weights[i])) <
                      0.5 / 255 + 1e-6);
    }
}

BOOST_AUTO_TEST_CASE(a_pane_has_words_links_updates_and_heads) {
  const test::Scratch scratch;
  const std::vector<Alignment> all = matrices(3, 1);
  write_alignment_record(FileSystem::real(), scratch / "a.h5", "id", all);
  std::vector<LeftOutAlignments> left_out;
  const JsonObject made = packed_alignments({{-1, scratch / "a.h5", "set", nullptr}}, {}, left_out);
  BOOST_TEST(left_out.empty());
  BOOST_TEST(made["texts"] == JsonObject({"a\nb c", "x"}));
  const JsonObject& pane = made["panes"].at(0);
  BOOST_TEST(pane["kind"] == "forced");
  BOOST_TEST(pane["updates"] == JsonObject({5, 10}));
  BOOST_TEST(pane["sentence"] == JsonObject({0, 1, 2}));
  BOOST_TEST(pane["gold"][0] == JsonObject({1, 2}));  // 2 * index, plus 1 if the link is sure
  const Alignment& last = all.back();
  BOOST_TEST(pane["weights"][1][1][2] == packed(last.weights));
  const JsonObject some =
      packed_alignments({{-1, scratch / "a.h5", "set", nullptr}}, {2, 7}, left_out);
  BOOST_TEST(some["panes"][0]["sentence"] == JsonObject({2}));
  BOOST_TEST(some["panes"][0]["kept"] == JsonObject({0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(beyond_the_budget_the_same_sentences_stay_everywhere) {
  const test::Scratch scratch;
  std::vector<AlignedRun> runs;
  for (unsigned i = 0; i < 3; ++i) {
    runs.push_back({-1, scratch / fmt::format("{}.h5", i), "set", nullptr});
    write_alignment_record(FileSystem::real(), runs.back().file, "id", matrices(40, i));
  }
  std::vector<LeftOutAlignments> left_out;
  const std::size_t whole = size_of(packed_alignments(runs, {}, left_out));
  const JsonObject less = packed_alignments(runs, {}, left_out, whole / 3);
  const auto every = less["every"].get<Index>();
  BOOST_TEST(every > 1);
  BOOST_TEST(size_of(less) <= whole / 3);
  BOOST_TEST(less["panes"].size() == 3);
  for (const JsonObject& pane : less["panes"])
    for (const JsonObject& sentence : pane["sentence"])
      BOOST_TEST(sentence.get<Index>() % every == 0);
  BOOST_TEST(packed_alignments(runs, {}, left_out, 20)["panes"].size() <= 1);  // and terminates
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_left_out_with_its_reason) {
  const test::Scratch scratch;
  std::vector<LeftOutAlignments> left_out;
  const std::vector<AlignedRun> runs = {{-1, scratch / "absent.h5", "set", nullptr}};
  BOOST_TEST(packed_alignments(runs, {}, left_out)["panes"].empty());
  BOOST_REQUIRE(left_out.size() == 1);
  BOOST_TEST(left_out[0].text.starts_with("its alignments are left out: "));
}

BOOST_AUTO_TEST_CASE(one_module_is_taken_where_none_is_named) {
  const std::vector<std::string> all = {
      "cross_dev", "cross_layer1", "cross_search", "encoder_layer1", "words_cross_search"};
  const auto without = [&](std::string_view name) {
    std::vector<std::string> some = all;
    std::erase(some, name);
    return some;
  };
  BOOST_TEST(default_module(all, true) == "cross_layer1");
  BOOST_TEST(default_module(without("cross_layer1"), true) == "words_cross_search");
  BOOST_TEST(default_module(without("cross_layer1"), false) == "cross_search");
  BOOST_TEST(default_module({"cross_dev_search", "encoder_layer1"}, true) == "cross_dev_search");
  BOOST_TEST(default_module({}, true) == "");
  BOOST_TEST(split_of("words_cross_dev_search") == "dev");
  BOOST_TEST(split_of("words_cross_search") == "test");
}

BOOST_AUTO_TEST_SUITE_END()
