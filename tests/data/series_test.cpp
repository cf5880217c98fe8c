// Task series: windows and symbols made from values, their splits, and each refusal.
#include <cmath>

#include "framework/data/build_vocabulary.hpp"
#include "shared.hpp"

using namespace softalign;

namespace {

// A file of the values 10, 20, ... 160: ten for training, two for dev, four for test.
struct Rising {
  Scratch scratch;
  std::map<std::string, std::string> values{{"history", "3"},
                                            {"horizon", "2"},
                                            {"dev", "2"},
                                            {"test", "4"},
                                            {"bins", "4"},
                                            {"margin", "0.5"}};

  Rising() { set(rising(16)); }
  static std::string rising(int count) {
    std::string text;
    for (int k = 1; k <= count; ++k) text += fmt::format("{}\n", 10 * k);
    return text;
  }
  void set(const std::string& text) { values["file"] = scratch.write("rising.csv", text); }
  std::unique_ptr<Task> task() const { return task_with("series", values); }
  Dataset load() const { return task()->load(1, {}); }
  // Returns the message with which loading fails, after checking that `validate` gives the same one.
  std::string refusal() const {
    const std::string text = message_of<DataError>([&] { load(); });
    BOOST_TEST(message_of<DataError>([&] { task()->check_files(); }) == text);
    return text;
  }
};

std::vector<std::string> targets_of(const Split& split) {
  std::vector<std::string> targets;
  for (const Example example : split.examples) targets.emplace_back(example.target_text);
  return targets;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(series_task)

BOOST_AUTO_TEST_CASE(symbols_are_the_centres_of_equal_bins) {
  const Dataset data = Rising().load();
  BOOST_REQUIRE(data.target->size() == kSpecials + 4);
  // The training values range from 10 to 100; a margin of half that range on each side gives -35 to 145.
  const std::vector<std::string> centres = {"-12.5", "32.5", "77.5", "122.5"};
  for (Token k = 0; k < 4; ++k) BOOST_TEST(data.target->symbol(kSpecials + k) == centres[usize(k)]);
  BOOST_TEST(
      (data.target_format().values == std::vector<double>{0, 0, 0, -12.5, 32.5, 77.5, 122.5}));
  // A value has the nearest symbol, and the upper one if two are equally near.
  BOOST_TEST((targets_of(data.train) ==
              std::vector<std::string>{
                  "32.5 32.5", "32.5 77.5", "77.5 77.5", "77.5 77.5", "77.5 77.5", "77.5 122.5"}));
  BOOST_TEST((data.train.examples[5].target[1] == kSpecials + 3));
}

BOOST_AUTO_TEST_CASE(symbols_have_few_digits) {
  Rising rising;
  rising.set("0.001\n0.0021\n0.0009\n0.002\n0.0015\n0.0011\n" + Rising::rising(8));
  for (const auto& [name, value] : {std::pair("history", "1"), {"horizon", "1"}, {"dev", "4"}})
    rising.values[name] = value;
  rising.values["margin"] = "0";
  const Dataset data = rising.load();  // bins of 0.0003: 5 decimals err by over 1 % of a bin
  BOOST_TEST(data.target->symbol(kSpecials) == "0.001050");
  BOOST_TEST(data.target->symbol(kSpecials + 3) == "0.001950");
}

BOOST_AUTO_TEST_CASE(time_divides_the_splits) {
  Rising rising;
  const Dataset data = rising.load();
  BOOST_TEST(data.train.examples.size() == 6u);
  BOOST_TEST(data.dev.examples.size() == 1u);
  BOOST_TEST(data.test.examples.size() == 2u);
  BOOST_TEST(data.train.counts.kept == 6);
  const Example first = data.test.examples[0];  // targets 130 and 140, after 100, 110 and 120
  const double deviation = 10 * std::sqrt(8.25);
  BOOST_TEST(data.statistics.mean[0] == 55.0);
  BOOST_TEST(data.statistics.deviation[0] == deviation);
  BOOST_TEST((vector_of(first.frames) == std::vector<float>{static_cast<float>(45 / deviation),
                                                            static_cast<float>(55 / deviation),
                                                            static_cast<float>(65 / deviation)}));
  BOOST_TEST(first.target_text == "122.5 122.5");
  BOOST_TEST(contains(first.source_text, "3 values before line 13 ("));
  BOOST_TEST(first.source_text != data.test.examples[1].source_text);
  BOOST_REQUIRE(data.notes.size() == 1u);
  BOOST_TEST(contains(data.notes[0], "2 of 4 values to forecast in test lie beyond the bins"));
  rising.values["stride"] = "4";
  rising.values["stride_test"] = "1";
  const Dataset other = rising.load();
  BOOST_TEST(other.train.examples.size() == 2u);
  BOOST_TEST(other.test.examples.size() == 3u);
  BOOST_TEST(targets_of(other.train)[1] == "77.5 77.5");
  BOOST_TEST((rising.task()->outline().frames == other.frames()));
  BOOST_TEST(rising.task()->outline().target_symbols == other.target->size());
}

BOOST_AUTO_TEST_CASE(a_trained_model_measures_with_its_own_symbols_and_statistics) {
  Rising rising;
  const Vocabularies trained{nullptr, symbol_vocabulary({"0", "100", "1000"}), {{100}, {10}}};
  const Dataset data = rising.task()->load_to_measure(1, "test", trained, {});
  BOOST_TEST((targets_of(data.test) == std::vector<std::string>{"100 100", "100 100"}));
  BOOST_TEST(vector_of(data.test.examples[0].frames) == (std::vector<float>{0, 1, 2}),
             boost::test_tools::per_element());
  rising.set(Rising::rising(7));  // fewer values than training needs
  const Dataset shorter = rising.task()->load_to_measure(1, "test", trained, {});
  BOOST_TEST(shorter.test.examples.size() == 2u);
  const Vocabularies words{nullptr, symbol_vocabulary({"a", "b"}), {{100}, {10}}};
  BOOST_TEST(
      contains(message_of<DataError>([&] { rising.task()->load_to_measure(1, "test", words, {}); }),
               "are not rising numbers"));
}

BOOST_AUTO_TEST_CASE(a_new_value_has_the_symbol_that_training_gives_it) {
  const Dataset data = Rising().load();  // -12.5 32.5 77.5 122.5
  const auto text = [&](const Vocabulary& bins, const std::string& line) {
    return bins.join(bins.encode(line));
  };
  const auto loaded = load_vocabulary(data.target->serialize());
  for (const Vocabulary* bins : {data.target.get(), loaded.get()}) {
    BOOST_TEST(bins->type() == "numbers");
    BOOST_TEST(text(*bins, "32.5 40 55 1e9 -1e9") == "32.5 32.5 77.5 122.5 -12.5");
    BOOST_TEST((bins->encode("x <s> nan") == std::vector<Token>(3, kUnknown)));
  }
}

BOOST_AUTO_TEST_CASE(the_length_of_sources_and_targets_is_known) {
  const auto task = Rising().task();
  BOOST_TEST(task->outline().target_length == 2);
  BOOST_CHECK_NO_THROW(task->check_source(3));
  for (const Index length : {1, 2, 4})
    BOOST_TEST(contains(message_of<DataError>([&] { task->check_source(length); }),
                        "but task.history is 3"));
}

BOOST_AUTO_TEST_CASE(columns_have_names_or_numbers) {
  Rising rising;
  const auto targets = targets_of(rising.load().train);
  const auto table = [](const std::string& names, const std::string& row) {
    std::string text = names;
    for (int k = 1; k <= 16; ++k) text += fmt::format(fmt::runtime(row), k, 10 * k);
    return text;
  };
  for (const std::string names : {"time,\"power, MW\"\n", ""})
    for (const std::string column : {"2", "power, MW"}) {
      if (names.empty() && column != "2") continue;
      rising.set(table(names, "\"June {}, 2000\",{}\n"));
      rising.values["column"] = "\"" + column + "\"";
      BOOST_TEST((targets_of(rising.load().train) == targets), names << column);
    }
  rising.set(table("", "{} {}\n"));
  rising.values["column"] = "2";
  BOOST_TEST((targets_of(rising.load().train) == targets));
  rising.set(table("t;MW\n", "{};{}\n"));
  BOOST_TEST((targets_of(rising.load().train) == targets));
  BOOST_TEST(contains(rising.load().test.examples[0].source_text, "before line 14 ("));
  rising.set(table("t,2021\n", "{},{}\n"));  // a column name that is a number
  rising.values["column"] = "2021";
  BOOST_TEST((targets_of(rising.load().train) == targets));
  for (const std::string column : {"3", "0", "1.5", "mw"}) {
    rising.values["column"] = column;
    BOOST_TEST(contains(rising.refusal(), "no column '" + column + "'"));
  }
}

BOOST_AUTO_TEST_CASE(bad_cells_are_refused_by_line) {
  Rising rising;
  const std::string good = Rising::rising(16);
  for (const std::string cell : {"nan", "inf", "", "1,5", "x", "1e39", "0x10", "10 MW"}) {
    rising.set("a\n" + good + cell + "\n" + good);
    const std::string text = rising.refusal();
    BOOST_TEST(contains(text, "rising.csv:18: "), text);
  }
  for (const std::string missing : {"NA", "nan", "null"}) {  // a missing value, not a column name
    rising.set(missing + "\n" + good);
    BOOST_TEST(contains(rising.refusal(), "rising.csv:1: '" + missing + "'"));
  }
  rising.set("1;2\n3;4\n5\n");
  BOOST_TEST(contains(rising.refusal(), "rising.csv:3: 1 field, but line 1 has 2"));
}

BOOST_AUTO_TEST_CASE(a_series_that_is_too_short_or_does_not_vary_is_refused) {
  Rising rising;
  rising.set(Rising::rising(10));
  BOOST_TEST(contains(rising.refusal(), "too few values, 10,"));
  rising.set(Rising::rising(11));
  const Dataset trained = rising.load();
  BOOST_TEST(trained.train.examples.size() == 1u);
  rising.values["test"] = "10";  // the first window would begin before the file
  BOOST_TEST(contains(
      message_of<DataError>([&] {
        rising.task()->load_to_measure(1, "test", {{}, trained.target, trained.statistics}, {});
      }),
      "too few values, 11,"));
  rising.values["test"] = "4";
  std::string even;
  for (int k = 0; k < 16; ++k) even += "7\n";
  rising.set(even);
  BOOST_TEST(contains(rising.refusal(), "all training values are 7"));
  rising.values["test"] = "1";
  BOOST_TEST(contains(message_of<SpecError>([&] { rising.task(); }), "shorter than the horizon"));
}

BOOST_AUTO_TEST_SUITE_END()
