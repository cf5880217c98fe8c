#include "framework/launch/run_study.hpp"

#include <nlohmann/json.hpp>

#include "folder.hpp"
#include "framework/eval/metric.hpp"
#include "framework/eval/summary.hpp"
#include "framework/record/file.hpp"

using namespace softalign;
using namespace softalign::launch_test;

namespace {

using Json = nlohmann::json;

constexpr const char* kClaims = R"(
  - claim: token_accuracy[1-4](reverse/additive) >= 0
    because: nothing is below zero
  - claim: token_accuracy[3-6](reverse/additive) > 100
    expect: open
  - claim: perplexity[100+](reverse/none) < 1e9
  - claim: bleu[1-2](reverse/none) >= 0
)";

// Stops the run after some updates.
class Impatient final : public Observer {
 public:
  explicit Impatient(Index updates) : left_(updates) {}
  void update(const TrainingProgress&) override { --left_; }
  bool stop_requested() override { return left_ <= 0; }

 private:
  Index left_;
};

// A study that has been run to its end.
struct Finished {
  Folder folder;
  Study study = read_study(write_study(folder, kClaims));
  std::vector<StudyRun> runs = plan_study(study, {}, folder.path("results"), resolve_spec);
  ExperimentOptions options = [this] {
    ExperimentOptions o;
    o.results = folder.path("results");
    o.threads = 1;
    return o;
  }();
  std::vector<std::string> seen;
  StudyOutcome outcome = run();

  StudyOutcome run() {
    return run_study(study, runs, runs, options, [this](const StudyRun& r, auto k, auto n) {
      seen.push_back(fmt::format("{}/{} {} {}", k, n, r.variant, r.seed));
      return std::make_unique<Observer>();
    });
  }
};

// Boost builds it once for the suite.
Finished& finished() {
  static Finished study;
  return study;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_study_)

BOOST_AUTO_TEST_CASE(every_run_is_made_and_listed) {
  Finished& f = finished();
  BOOST_TEST(f.seen.front() == "1/4 none 1");
  const Json json = Json::parse(read_file(f.folder.path("results/small/study.json")));
  BOOST_TEST(json["format"] == "softalign-study");
  BOOST_REQUIRE(json["runs"].size() == 4u);
  for (const Json& run : json["runs"]) {
    BOOST_TEST(run["state"] == "complete");
    const std::string path = run["path"];
    BOOST_TEST(std::filesystem::exists(f.folder.path("results/small/" + path + "/run.h5")));
  }
  BOOST_TEST(json["tables"].size() == 2u);
  BOOST_TEST(json["claims"].size() == 4u);
}

BOOST_AUTO_TEST_CASE(read_results_give_the_metrics_that_training_recorded) {
  Finished& f = finished();
  const Record record(f.runs[2].folder);
  const StoredResults results = read_results(record);
  BOOST_TEST(results.sentences.size() == 30u);
  const auto labels =
      std::get<std::vector<std::string>>(record.array("test/by_length", "label").values);
  const std::vector<std::pair<Index, Index>> lengths = {{1, 2}, {3, 4}, {5, 6}, {7, 99}};
  BOOST_REQUIRE(labels.size() == lengths.size());
  int compared = 0;
  for (const NamedMetric& metric : all_metrics()) {
    if (!record.has("test/by_length/" + metric.name)) continue;
    const auto values =
        std::get<std::vector<double>>(record.array("test/by_length", metric.name).values);
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const double value =
          results.value(metric.name, results.of_length(lengths[b].first, lengths[b].second));
      BOOST_TEST((value == values[b] || (std::isnan(value) && std::isnan(values[b]))),
                 metric.name << " " << labels[b] << ": " << value << " and " << values[b]);
      ++compared;
    }
  }
  BOOST_TEST(compared >= 4 * 8);
  BOOST_TEST(std::isnan(results.value("pointing_accuracy_ibm_model1", {0})));
  BOOST_CHECK_THROW(results.value("blue", {0}), SpecError);
}

BOOST_AUTO_TEST_CASE(tables_have_the_mean_over_seeds) {
  Finished& f = finished();
  BOOST_REQUIRE(f.outcome.tables.size() == 2u);
  const StudyTable& table = f.outcome.tables[0];
  BOOST_TEST(table.metric == "token_accuracy");
  const std::vector<std::string> columns = {"all", "1-2", "3-4", "5-6", "7+"};
  BOOST_TEST(table.columns == columns, boost::test_tools::per_element());
  BOOST_REQUIRE(table.rows.size() == 2u);
  std::vector<double> values;
  for (const std::size_t run : {2u, 3u}) {
    const StoredResults results = read_results(Record(f.runs[run].folder));
    values.push_back(results.value("token_accuracy", results.of_length(3, 4)));
  }
  const Seeds& cell = table.rows[1].values[2];
  BOOST_TEST(cell.count == 2);
  BOOST_TEST(cell.mean == (values[0] + values[1]) / 2);
  BOOST_TEST(cell.deviation == std::abs(values[0] - values[1]) / std::sqrt(2),
             boost::test_tools::tolerance(1e-12));
  Index sum = 0;
  for (std::size_t c = 1; c < 5; ++c) sum += table.rows[0].n[c];
  BOOST_TEST(sum == 30);
  BOOST_TEST(table.rows[0].n[0] == 30);
  const std::size_t best = table.rows[0].values[0].mean > table.rows[1].values[0].mean ? 0 : 1;
  BOOST_TEST(table.best[0] == static_cast<int>(best));
  // A low perplexity is a good one.
  const StudyTable& other = f.outcome.tables[1];
  const std::size_t low = other.rows[0].values[0].mean < other.rows[1].values[0].mean ? 0 : 1;
  BOOST_TEST(other.best[0] == static_cast<int>(low));
  const std::string text = table_text(table);
  BOOST_TEST(text.find("token_accuracy (percent) by source length") != std::string::npos);
  BOOST_TEST(text.find(" ±") != std::string::npos);
  const auto marked = [](int row) { return row >= 0; };  // not where two are best
  BOOST_TEST(std::count(text.begin(), text.end(), '*') ==
             std::count_if(table.best.begin(), table.best.end(), marked));
}

BOOST_AUTO_TEST_CASE(a_table_has_one_format_and_no_empty_columns) {
  const StudyTable table{"p",
                         "p",
                         "bleu",
                         "1",
                         {"all", "1-5", "6+"},
                         {{"a", {3, 3, 0}, {{100, 0, 2}, {100, 0, 2}, {std::nan(""), 0, 2}}},
                          {"b", {3, 3, 0}, {{90, 1, 2}, {90, 1, 2}, {std::nan(""), 0, 2}}}},
                         {0, 0, -1}};
  BOOST_TEST(table_text(table) ==
             "p: bleu by source length\n"
             "            all            1-5\n"
             "n             3              3\n"
             "a  100.00 ±0.00*  100.00 ±0.00*\n"
             "b   90.00 ±1.00    90.00 ±1.00\n");
}

BOOST_AUTO_TEST_CASE(claims_are_judged) {
  Finished& f = finished();
  const auto& claims = f.outcome.claims;
  BOOST_REQUIRE(claims.size() == 4u);
  BOOST_TEST((claims[0].verdict == Verdict::holds));
  BOOST_TEST(claims[0].confidence == 1);
  BOOST_TEST(claims[0].left.count == 2);
  BOOST_TEST((claims[1].verdict == Verdict::fails));
  BOOST_TEST(!claims[1].broken());  // it was open
  const StoredResults results = read_results(Record(f.runs[2].folder));
  BOOST_TEST(claims[1].sentences == std::ssize(results.of_length(3, 6)));  // across buckets
  BOOST_TEST(claims[2].broken());  // no sentence is that long: nothing to hold
  BOOST_TEST(f.outcome.broken());
  const std::string text = claims_text(claims);
  BOOST_TEST(text.find("1. holds: token_accuracy[1-4](reverse/additive) >= 0") == 0u);
  BOOST_TEST(text.find("because nothing is below zero") != std::string::npos);
  BOOST_TEST(text.find("2. open, does not hold:") != std::string::npos);
  BOOST_TEST((claims[2].verdict == Verdict::empty));
  BOOST_TEST(
      text.find("3. NO SENTENCES: perplexity[100+](reverse/none) < 1e9\n   no test sentence is "
                "as long as perplexity[100+](reverse/none) asks\n") != std::string::npos);
  BOOST_TEST((claims[3].verdict == Verdict::unmeasured));  // no reference has 4 tokens
  BOOST_TEST(claims[3].broken());
  BOOST_TEST(text.ends_with(
      "4. NOT MEASURED: bleu[1-2](reverse/none) >= 0\n   bleu[1-2](reverse/none) is not defined "
      "over its test sentences\n"));
  const Json json = Json::parse(study_json(f.study, f.runs, f.outcome));
  BOOST_TEST(json["claims"][2]["verdict"] == "empty");
  BOOST_TEST(json["claims"][3]["verdict"] == "unmeasured");
  BOOST_TEST(!json["claims"][3].contains("confidence"));
}

BOOST_AUTO_TEST_CASE(a_claim_waits_for_all_of_its_runs) {
  Finished& f = finished();
  const std::vector<StudyRun> first(f.runs.begin(), f.runs.begin() + 3);  // one seed is missing
  const auto claims = judge(f.study, StudyResults(first));
  BOOST_TEST((claims[0].verdict == Verdict::unknown));
  BOOST_TEST(!claims[0].broken());
  BOOST_TEST(claims_text({claims[0]}) == "1 claim is not judged yet: runs are missing\n");
  const std::string text = claims_text(claims);
  BOOST_TEST(text.starts_with("3. NO SENTENCES"));
  BOOST_TEST(text.ends_with("2 claims are not judged yet: runs are missing\n"));
}

BOOST_AUTO_TEST_CASE(what_is_complete_is_not_run_again) {
  Finished& f = finished();
  const auto before = std::filesystem::last_write_time(f.runs[0].folder / "run.h5");
  f.run();
  BOOST_TEST((std::filesystem::last_write_time(f.runs[0].folder / "run.h5") == before));
}

BOOST_AUTO_TEST_CASE(an_interrupted_study_goes_on) {
  const Folder folder;
  const Study study = read_study(write_study(folder, kClaims));
  const auto runs = plan_study(study, {}, folder.path("results"), resolve_spec);
  ExperimentOptions options;
  options.results = folder.path("results");
  options.threads = 1;
  const auto state = [&](std::size_t run) {
    return Json::parse(read_file(folder.path("results/small/study.json")))["runs"][run]["state"]
        .get<std::string>();
  };
  BOOST_CHECK_THROW(
      run_study(study,
                runs,
                runs,
                options,
                [](const StudyRun&, std::size_t number, std::size_t) -> std::unique_ptr<Observer> {
                  return std::make_unique<Impatient>(number == 2 ? 3 : 1000);
                }),
      Interrupted);
  BOOST_TEST(state(0) == "complete");
  BOOST_TEST(state(1) == "interrupted");
  BOOST_TEST(state(2) == "absent");
  run_study(study, runs, runs, options, [](auto&&...) { return std::make_unique<Observer>(); });
  BOOST_TEST(state(1) == "complete");
  // The same numbers as without the interruption.
  Finished& f = finished();
  for (const std::size_t run : {1u, 3u}) {
    const auto nll = [&](const std::filesystem::path& path) {
      return std::get<std::vector<double>>(Record(path).array("test", "nll").values);
    };
    BOOST_TEST(nll(runs[run].folder) == nll(f.runs[run].folder), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(patterns_choose_runs) {
  Finished& f = finished();
  BOOST_TEST(chosen_runs(f.runs, "").size() == 4u);
  BOOST_TEST(chosen_runs(f.runs, "*/add*").size() == 2u);
  BOOST_TEST(chosen_runs(f.runs, "reverse/none").size() == 2u);
  BOOST_TEST(chosen_runs(f.runs, "none").empty());
}

BOOST_AUTO_TEST_SUITE_END()
