// Reading a single run, and the messages about runs that cannot be read.
#include "framework/analysis/run.hpp"

#include <cmath>

#include "framework/base/files.hpp"
#include "framework/base/stored.hpp"
#include "tests/analysis/runs.hpp"

using namespace softalign;
using namespace softalign::test;
namespace {

// Returns the fault of a run damaged by `spoil`, after checking that it names the file and says what to do.
std::string fault_after(const std::function<void(const RunFolder&)>& spoil) {
  const Scratch scratch;
  const RunFolder run = complete_run(scratch.path(), seeded(1));
  spoil(run);
  const Run summary = read_run(run.root);
  BOOST_TEST(summary.state() == "corrupt");
  BOOST_TEST(contains(summary.fault, run.root.string()), summary.fault);
  BOOST_TEST(summary.run_id == run.root.filename().string());
  return summary.fault;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runs)

BOOST_AUTO_TEST_CASE(says_what_lists_and_sweeps_need) {
  const Scratch scratch;
  const RunFolder run = complete_run(scratch.path(), seeded(3), 600);
  const Run summary = read_run(run.root);
  BOOST_TEST(summary.fault == "");
  BOOST_TEST(summary.state() == "complete");
  BOOST_TEST(summary.name == "study");
  BOOST_TEST(summary.run_id == seeded(3).run_id);
  BOOST_TEST(summary.identity == "{\"seed\":3}");
  BOOST_TEST(summary.status.last_update == 600);
  BOOST_TEST(summary.status.metrics.size() == 4u);  // the last values

  const MetricTable& test = summary.test;
  BOOST_TEST(test.rows == std::vector<std::string>{"all"});
  BOOST_TEST(test.sentences == std::vector<Index>{7});
  BOOST_TEST((test.metrics == std::vector<std::string>{"bleu", "loss"}));
  BOOST_TEST(test.facts[0].units == "percent");
  BOOST_TEST(test.facts[0].signature == "tok:none");
  BOOST_TEST(test.facts[0].title == "BLEU");  // filled in, because an older record has no title
  BOOST_TEST(test.facts[1].units == "nats");
  BOOST_TEST((test.values == Array2d{{21.5, 0.5}}));

  BOOST_TEST(summary.dev.updates.size() == 150u);
  BOOST_TEST(summary.dev.columns.at("loss")[1] == 1.0 / 8);
  BOOST_TEST(summary.train.updates.size() == kCurvePoints);
  BOOST_TEST(summary.train.columns.size() == 1u);
  for (std::size_t i = 0; i < kCurvePoints; ++i)
    BOOST_REQUIRE(summary.train.columns.at("loss")[i] ==
                  10.0 / static_cast<double>(summary.train.updates[i]));
}

BOOST_AUTO_TEST_CASE(thinning_is_even_and_keeps_both_ends) {
  for (const std::size_t n : {0u, 1u, 2u, 499u, 500u, 501u, 999u, 1000u, 12345u}) {
    const auto places = thinned(n);
    BOOST_REQUIRE(places.size() == std::min(n, kCurvePoints));
    if (n == 0) continue;
    BOOST_TEST(places.front() == 0u);
    BOOST_TEST(places.back() == n - 1);
    for (std::size_t i = 1; i < places.size(); ++i) {
      const std::size_t gap = places[i] - places[i - 1];
      BOOST_REQUIRE((gap >= n / kCurvePoints && gap >= 1 && gap <= n / kCurvePoints + 1));
    }
  }
  BOOST_TEST((thinned(7, 3) == std::vector<std::size_t>{0, 3, 6}));
}

BOOST_AUTO_TEST_CASE(last_and_best_values_pass_over_what_is_none) {
  const double none = std::nan("");
  const SeriesColumns dev{{1, 2, 3, 4},
                          {{"bleu", {none, 7, 3, none}}, {"nothing", {none, none, none, none}}}};
  BOOST_TEST(last_value(dev, "bleu") == 3);
  BOOST_TEST(best_value(dev, "bleu", true) == 7);
  BOOST_TEST(best_value(dev, "bleu", false) == 3);
  for (const char* column : {"nothing", "absent"}) {
    BOOST_TEST(std::isnan(last_value(dev, column)));
    BOOST_TEST(std::isnan(best_value(dev, column, true)));
  }
  BOOST_TEST(higher_is_better("bleu").value());
  BOOST_TEST(!higher_is_better("loss").value());
  BOOST_TEST(!higher_is_better("of a plugin that is not loaded"));
}

BOOST_AUTO_TEST_CASE(a_fault_names_the_file) {
  const auto no_record = [](const RunFolder& run) { fs::remove(run.record()); };
  using Harm = std::function<void(const RunFolder&)>;
  for (const auto& [file, harm] : std::vector<std::pair<std::string, Harm>>{
           {"run.h5", [](const RunFolder& run) { fs::resize_file(run.record(), 5000); }},
           {"run.h5", [](const RunFolder& run) { write_file(run.record(), "no HDF5"); }},
           {"journal-001.jrnl",
            [&](const RunFolder& run) {
              no_record(run);
              write_file(run.journal(1), std::string(5000, 'x'));
            }},
           {"spec.yaml", [&](const RunFolder& run) { no_record(run), fs::remove(run.spec()); }},
           {"identity.json",
            [&](const RunFolder& run) { no_record(run), fs::remove(run.identity()); }},
           {"identity.json",
            [&](const RunFolder& run) {
              no_record(run);
              write_file(run.identity(), "{\"seed\":2}");
            }},
           {"", [](const RunFolder& run) {
              fs::remove_all(run.root);
              fs::create_directory(run.root);
              write_file(run.identity(), "{\"seed\":1}");
            }}})
    BOOST_TEST(contains(fault_after(harm), file), fault_after(harm));
  const Scratch empty;  // as if a listing had taken an unreadable folder for a run
  BOOST_TEST(read_run(empty.path()).state() == "unreadable");
}

BOOST_AUTO_TEST_CASE(a_record_is_enough) {
  const Scratch scratch;
  const RunFolder run = complete_run(scratch / "results", seeded(1)), alone{scratch / "alone"};
  fs::create_directory(alone.root);
  fs::copy(run.record(), alone.record());
  const Run summary = read_run(alone.root);
  BOOST_TEST(summary.state() == "complete");
  BOOST_TEST(summary.name == "study");
  BOOST_TEST(summary.run_id == seeded(1).run_id);
  BOOST_TEST(summary.identity == "{\"seed\":1}");
  BOOST_TEST(summary.status.last_update == 12);
}

BOOST_AUTO_TEST_CASE(a_run_without_a_record_is_not_over) {
  const Scratch scratch;
  const RunFolder run = complete_run(scratch.path(), seeded(1));
  fs::remove(run.record());
  BOOST_TEST(read_run(run.root).state() == "failed");
  const Run same = read_run(run.root / "");
  BOOST_TEST(same.run_id == run.root.filename().string());
  BOOST_TEST(same.name == "study");
  const RunFolder begun{scratch / "study/begun"};  // claimed, but nothing written yet
  const Claim claim(FileSystem::real(), begun, false);
  BOOST_TEST(read_run(begun.root).state() == "claimed");
}

BOOST_AUTO_TEST_CASE(bytes_say_the_same) {
  const Scratch scratch;
  const Run summary = read_run(complete_run(scratch.path(), seeded(1)).root);
  const std::string bytes = packed(summary);
  const Run again = unpacked<Run>(bytes);
  BOOST_TEST(packed(again) == bytes);
  BOOST_TEST(again.state() == "complete");
  BOOST_TEST(again.status.owner == summary.status.owner);
  BOOST_TEST((again.status.metrics == summary.status.metrics));
  BOOST_TEST(again.identity == summary.identity);
  BOOST_TEST(again.test.facts[0].signature == summary.test.facts[0].signature);
  BOOST_TEST(again.test.facts[1].title == summary.test.facts[1].title);
  BOOST_TEST(again.dev.columns.at("bleu") == summary.dev.columns.at("bleu"));
  BOOST_TEST(again.train.updates == summary.train.updates);
  for (std::size_t n = 0; n < bytes.size(); n += 7)
    BOOST_CHECK_THROW(unpacked<Run>(std::string_view(bytes).substr(0, n)), DataError);
  BOOST_CHECK_THROW(unpacked<Run>(bytes + "x"), DataError);
}

BOOST_AUTO_TEST_SUITE_END()
