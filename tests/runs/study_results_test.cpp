// The tables and verdicts of a study whose runs are finished.
#include <nlohmann/json.hpp>

#include <boost/test/unit_test.hpp>
#include "framework/analysis/comparison.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/config/yaml.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/file.hpp"
#include "framework/runs/local_run.hpp"
#include "framework/runs/results.hpp"
#include "framework/runs/run_list.hpp"
#include "tests/runs/small_study.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

using Json = nlohmann::json;

constexpr const char* kClaims = R"(
  - claim: token_accuracy[1-4](reverse/additive) >= -200
    because: nothing is below zero
  - claim: token_accuracy[3-6](reverse/additive) > 100
    expect: open
  - claim: perplexity[100+](reverse/none) < 1e9
  - claim: bleu[1-2](reverse/none) >= 0
)";

// A small study, all of whose runs are complete.
struct Finished {
  Scratch folder;
  Sweep study = read_sweep(write_study(folder, kClaims));
  Plan plan = plan_sweep(study, {}, folder / "results", resolve_spec);
  std::vector<std::string> runs = run();  // run folders
  ListStatus status = list_status(plan.list);
  ListResults results{plan.list, status, plan.wanted};
  SweepOutcome outcome{study_tables(study, plan, results), judge(study.claims, results)};

  std::vector<std::string> run() {
    write_list(plan.list);
    std::vector<std::string> folders;
    Observer observer;
    for (const ListedRun& row : plan.list.rows)
      folders.push_back(work_on(plan.list, row, {}, resolve_spec, observer).folder.string());
    return folders;
  }
};

// Returns the study, which is run once for the suite.
Finished& finished() {
  static Finished study;
  return study;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(study_results)

BOOST_AUTO_TEST_CASE(every_run_is_listed) {
  Finished& f = finished();
  const Json json = Json::parse(study_json(f.study, f.plan.list, f.plan.wanted, f.outcome));
  BOOST_TEST(json["format"] == "softalign-study");
  BOOST_REQUIRE(json["runs"].size() == 4u);
  for (const Json& run : json["runs"]) {
    BOOST_TEST(run["state"] == "complete");
    const std::string path = run["path"];
    BOOST_TEST(std::filesystem::exists((f.folder / ("results/small/" + path + "/run.h5"))));
  }
  BOOST_TEST(json["tables"].size() == 2u);
  BOOST_TEST(json["claims"].size() == 4u);
}

BOOST_AUTO_TEST_CASE(read_results_give_the_metrics_that_training_recorded) {
  Finished& f = finished();
  const Record record(f.runs[2]);
  const StoredResults results = read_results(record);
  BOOST_TEST(results.counts.sentences() == 30);
  const auto labels =
      std::get<std::vector<std::string>>(record.array("test/by_length", "label").values);
  const std::vector<std::pair<Index, Index>> lengths = {{1, 2}, {3, 4}, {5, 6}, {7, 99}};
  BOOST_REQUIRE(labels.size() == lengths.size());
  int compared = 0;
  for (const NamedMetric& metric : default_metrics()) {
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
  BOOST_TEST(table.buckets == columns, boost::test_tools::per_element());
  BOOST_REQUIRE(table.rows.size() == 2u);
  std::vector<double> values;
  for (const std::size_t run : {2u, 3u}) {
    const StoredResults results = read_results(Record(f.runs[run]));
    values.push_back(results.value("token_accuracy", results.of_length(3, 4)));
  }
  const Seeds& cell = table.rows[1].cells[2].over_seeds;
  BOOST_TEST(cell.count == 2);
  BOOST_TEST(cell.mean == (values[0] + values[1]) / 2);
  BOOST_TEST(cell.deviation == std::abs(values[0] - values[1]) / std::sqrt(2),
             boost::test_tools::tolerance(1e-12));
  Index sum = 0;
  for (std::size_t c = 1; c < 5; ++c) sum += table.rows[0].cells[c].sentences;
  BOOST_TEST(sum == 30);
  BOOST_TEST(table.rows[0].cells[0].sentences == 30);
  const std::size_t best =
      table.rows[0].cells[0].over_seeds.mean > table.rows[1].cells[0].over_seeds.mean ? 0 : 1;
  BOOST_TEST(table.best[0] == static_cast<int>(best));
  // A lower perplexity is better.
  const StudyTable& other = f.outcome.tables[1];
  const std::size_t low =
      other.rows[0].cells[0].over_seeds.mean < other.rows[1].cells[0].over_seeds.mean ? 0 : 1;
  BOOST_TEST(other.best[0] == static_cast<int>(low));
}

BOOST_AUTO_TEST_CASE(claims_are_judged) {
  Finished& f = finished();
  const auto& claims = f.outcome.claims;
  BOOST_REQUIRE(claims.size() == 4u);
  BOOST_TEST((claims[0].verdict == Verdict::holds));
  BOOST_TEST(claims[0].left.count == 2);
  BOOST_TEST((claims[1].verdict == Verdict::fails));
  BOOST_TEST(!claims[1].broken());  // `expect: open`
  const StoredResults results = read_results(Record(f.runs[2]));
  BOOST_TEST(claims[1].sentences == std::ssize(results.of_length(3, 6)));  // across buckets
  BOOST_TEST(claims[2].broken());  // no sentence is that long
  BOOST_TEST(broken(f.outcome.claims));
  const std::string text = claims_text(claims);
  for (const char* part : {"1. holds: token_accuracy[1-4](reverse/additive) >= -200",
                           "because nothing is below zero",
                           "2. open, does not hold:",
                           "3. NO SENTENCES: perplexity[100+](reverse/none) < 1e9",
                           "4. NOT MEASURED: bleu[1-2](reverse/none) >= 0"})
    BOOST_TEST(contains(text, part), text);
  BOOST_TEST((claims[2].verdict == Verdict::empty));
  BOOST_TEST((claims[3].verdict == Verdict::unmeasured));  // no reference has 4 tokens
  BOOST_TEST(claims[3].broken());
  const Json json = Json::parse(study_json(f.study, f.plan.list, f.plan.wanted, f.outcome));
  BOOST_TEST(json["claims"][2]["verdict"] == "empty");
  BOOST_TEST(json["claims"][3]["verdict"] == "unmeasured");
  BOOST_TEST(!json["claims"][3].contains("estimate"));
}

// The statistics of a claim equal those computed here from the counts in the records.
BOOST_AUTO_TEST_CASE(claims_have_an_effect_an_interval_and_p) {
  Finished& f = finished();
  const Statement statement("loss(reverse/none) > loss(reverse/additive)", {});
  const std::vector<StudyClaim> claims = {{statement, {}, ""}};
  const auto runs_of = [&](const Measurement& m) -> auto& {
    return f.results.of(m.part, m.variant);
  };
  const JudgedClaim judged = judge(claims, 2, runs_of)[0];
  const auto losses = [&](std::size_t seed, const std::vector<Index>& sentences) {
    return f.results.of("reverse", "none")[seed].results.value("loss", sentences) -
           f.results.of("reverse", "additive")[seed].results.value("loss", sentences);
  };
  const std::vector<Index> all = f.results.of("reverse", "none")[0].results.of_length(0, 99);
  const double first = losses(0, all), second = losses(1, all);
  const auto near = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(judged.difference.mean == (first + second) / 2, near);
  BOOST_TEST(judged.difference.deviation == std::abs(first - second) / std::sqrt(2), near);
  BOOST_TEST(judged.seeds == (first > 0) + (second > 0));
  std::vector<double> drawn;
  for (Index k = 1; k <= kResamples; ++k) {
    const auto sentences = Bootstrap(f.results.of("reverse", "none")[0].test_set, 30).draw(k);
    drawn.push_back((losses(0, sentences) + losses(1, sentences)) / 2);
  }
  const Estimate expected = estimate({first, second}, drawn, 30);
  BOOST_TEST(judged.estimate.error == expected.error, near);
  BOOST_TEST(judged.estimate.interval.low == expected.interval.low, near);
  BOOST_TEST(judged.estimate.p == expected.p, near);
  BOOST_TEST(judged.p_holm == expected.p, near);  // the only claim
  const std::vector<StudyClaim> twice = {claims[0], claims[0]};
  BOOST_TEST(judge(twice, 2, runs_of)[1].p_holm == std::min(1.0, 2 * expected.p), near);
}

// `compare` and claims agree on the same difference, also in a range of lengths.
BOOST_AUTO_TEST_CASE(claims_and_comparisons_draw_the_same_test_sets) {
  const auto near = boost::test_tools::tolerance(1e-9);
  std::map<std::string, std::vector<Run>> seeds;
  for (const std::string variant : {"none", "additive"})
    seeds[variant] = finished().results.of("reverse", variant);
  for (const bool clustered : {false, true}) {
    std::vector<Run> runs;
    for (auto& [variant, of_variant] : seeds)
      for (Run& run : of_variant) {
        read_configuration(run);
        for (Index i = 0; clustered && i < 30; ++i) run.results.clusters.push_back(i / 2);
        runs.push_back(run);
      }
    for (const std::string lengths : {"", "[1-4]"}) {
      const std::string text =
          fmt::format("loss{0}(reverse/additive) > loss{0}(reverse/none)", lengths);
      const std::vector<StudyClaim> claims = {{Statement(text, {}), {}, ""}};
      const JudgedClaim judged = judge(
          claims, 2, [&](const Measurement& m) -> auto& { return seeds.at(m.variant); })[0];
      const LengthRange range = lengths.empty() ? LengthRange{} : length_range("1-4");
      const auto against = against_baseline(compare(runs, metric_names("loss"), range), {});
      BOOST_REQUIRE(against.size() == 1u);
      const Estimate& other = against[0].estimate;
      const double sign = against[0].group == 0 ? 1 : -1;  // additive - none, or the reverse
      BOOST_TEST(judged.estimate.error > 0);
      BOOST_TEST(judged.estimate.value == sign * other.value, near);
      BOOST_TEST(judged.estimate.error == other.error, near);
      BOOST_TEST(judged.estimate.p == other.p, near);
    }
  }
}

// A claim with a 95 % interval of [-2.61, 1.38], p = 0.561 and one seed of two was once judged "holds".
BOOST_AUTO_TEST_CASE(a_sign_alone_decides_nothing) {
  Finished& f = finished();
  const auto judged = [&](const std::string& text) {
    static std::vector<StudyClaim> claims;
    claims = {{Statement(text, {}), {}, ""}};
    return judge(
        claims, 2, [&](const Measurement& m) -> auto& {
          return f.results.of(m.part, m.variant);
        })[0];
  };
  const auto& seeds = f.results.of("reverse", "additive");
  const std::vector<Index> all = seeds[0].results.of_length(0, 99);
  const double mean =
      (seeds[0].results.value("loss", all) + seeds[1].results.value("loss", all)) / 2;
  for (const double shift : {1e-6, -1e-6}) {
    const std::string near = fmt::format("loss(reverse/additive) < {}", mean + shift);
    const JudgedClaim near_mean = judged(near);
    BOOST_TEST(near_mean.estimate.interval.low < 0);
    BOOST_TEST(near_mean.estimate.interval.high > 0);
    BOOST_TEST(near_mean.agrees() == (shift > 0));
    BOOST_TEST((near_mean.verdict == Verdict::undecided));
    BOOST_TEST(near_mean.broken());
  }
  const std::string far = fmt::format(" {}", 100 * mean);
  BOOST_TEST((judged("loss(reverse/additive) <" + far).verdict == Verdict::holds));
  BOOST_TEST((judged("loss(reverse/additive) >" + far).verdict == Verdict::fails));
}

BOOST_AUTO_TEST_CASE(every_seed_has_sentences_of_its_own) {
  std::vector<Run> seeds = finished().results.of("reverse", "additive");
  seeds[1].results.source_lengths += 100;
  const std::vector<StudyClaim> claims = {
      {Statement("loss[1-4](reverse/additive) < 100", {}), {}, ""}};
  const JudgedClaim judged = judge(
      claims, 2, [&](const Measurement&) -> auto& { return seeds; })[0];
  BOOST_TEST((judged.verdict == Verdict::empty));
}

BOOST_AUTO_TEST_CASE(one_seed_has_no_p) {
  Finished& f = finished();
  const std::vector<StudyClaim> claims = {{Statement("loss(reverse/additive) < 100", {}), {}, ""}};
  const JudgedClaim judged = judge(
      claims, 1, [&](const Measurement& m) -> auto& { return f.results.of(m.part, m.variant); })[0];
  BOOST_TEST((judged.verdict == Verdict::holds));
  BOOST_TEST(std::isnan(judged.estimate.p));
}

BOOST_AUTO_TEST_CASE(claims_speak_of_diagnostics) {
  const auto run = [](double single, double first, double second) {
    Run made;
    made.results.found["flow.ratio"] = {{}, {single}};
    made.results.found["flow.norm"] = {{0, 1, 2}, {first, second, std::nan("")}};
    return made;
  };
  const std::map<std::string, std::vector<Run>> runs = {{"a", {run(3, 1, 5), run(1.5, 1, 7)}},
                                                        {"b", {run(2, 0, 2), run(2, 0, 4)}}};
  const Value list = parse_yaml(R"(
- claim: flow.ratio(p/a) > flow.ratio(p/b)
- {claim: flow.ratio(p/a) > flow.ratio(p/b)}
- claim: flow.norm[1+](p/a) - flow.norm[0](p/b) >= 5 * flow.norm[0](p/a) + 1
- {claim: "flow.norm(p/a) > -100"}
- claim: flow.other(p/a) > 0
- claim: flow.norm[2](p/a) > 0
)",
                                "claims.yaml");
  const auto claims = read_claims(list, [](const Measurement&, const Position&) {});
  const auto judged = judge(
      claims, 2, [&](const Measurement& m) -> auto& { return runs.at(m.variant); });
  BOOST_TEST((judged[0].verdict == Verdict::undecided));  // no bootstrap: the seeds decide
  BOOST_TEST(judged[0].seeds == 1);
  BOOST_TEST((judged[1].verdict == Verdict::undecided));
  BOOST_TEST((judged[2].verdict == Verdict::undecided));  // (5 + 7) / 2 >= 6, but not 5 >= 6
  BOOST_TEST(judged[2].left.mean == 6);
  BOOST_TEST((judged[3].verdict ==
              Verdict::holds));  // mean 3.5, error 0.5: t = 207 with one degree of freedom
  BOOST_TEST(judged[3].estimate.p == 0.00307543, boost::test_tools::tolerance(1e-4));
  BOOST_TEST(judged[3].p_holm == 4 * judged[3].estimate.p, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(judged[3].left.mean == 3.5);
  BOOST_TEST((judged[4].verdict == Verdict::unmeasured));
  BOOST_TEST((judged[5].verdict == Verdict::unmeasured));
  const std::string text = claims_text(judged);
  BOOST_TEST(text.find("flow.other(p/a) is not an array of its record") != text.npos);
  BOOST_TEST(text.find("flow.norm[2](p/a) has no number at these positions, only from 0 to 1") !=
             text.npos);
  BOOST_TEST(text.starts_with(
      "1. UNDECIDED: flow.ratio(p/a) > flow.ratio(p/b)\n   2.25 ±1.06 > 2.00 ±0.00\n   difference "
      "0.25 ±1.06, "
      "95 % in [-9.28, 9.78], p 0.795, corrected 1.000; holds for 1 of 2 seeds\n2. UNDECIDED:"));
  BOOST_TEST(text.ends_with(
      "±           standard deviation over the seeds\n"
      "95 %, p     both seeds and test sentences vary (1,000 resamples of the sentences)\n"
      "corrected   p corrected for all claims (Holm); a claim holds or fails if it is below "
      "0.05\n"));
}

BOOST_AUTO_TEST_CASE(a_claim_waits_for_all_of_its_runs) {
  Finished& f = finished();
  std::vector<std::size_t> wanted = f.plan.wanted;
  wanted.pop_back();  // one seed is missing
  ListResults results(f.plan.list, f.status, wanted);
  const auto claims = judge(f.study.claims, results);
  BOOST_TEST((claims[0].verdict == Verdict::unknown));
  BOOST_TEST(!claims[0].broken());
  BOOST_TEST(claims_text({claims[0]}) == "1 claim is not judged yet: runs are missing\n");
  const std::string text = claims_text(claims);
  BOOST_TEST(text.starts_with("3. NO SENTENCES"));
  BOOST_TEST(text.ends_with("2 claims are not judged yet: runs are missing\n"));
}

BOOST_AUTO_TEST_SUITE_END()
