#include "framework/runs/claims.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/analysis/metric_text.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/diagnostic.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {
namespace {

using Json = JsonObject;

// Returns a measurement's sentences in the k-th bootstrap sample of the test set, or in the test set
// itself for k = 0. Samples are the same for all runs with one test set.
std::vector<Index> drawn_sentences(const Run& run, const Measurement& m, Index k) {
  const StoredResults& results = run.results;
  if (k == 0) return results.of_length(m.shortest, m.longest);
  const Bootstrap bootstrap(
      run.test_set, static_cast<Index>(results.source_lengths.size()), results.clusters);
  std::vector<Index> drawn;
  for (const Index at : bootstrap.draw(k)) {
    const Index length = results.source_lengths(at);
    if (length >= m.shortest && length <= m.longest) drawn.push_back(at);
  }
  return drawn;
}

// Returns the number of clusters of a measurement's sentences.
Index independent_sentences(const StoredResults& results, const Measurement& m) {
  const std::vector<Index> sentences = results.of_length(m.shortest, m.longest);
  if (results.clusters.empty()) return std::ssize(sentences);
  std::set<Index> units;
  for (const Index at : sentences) units.insert(results.clusters[usize(at)]);
  return std::ssize(units);
}

// Returns whether runs with as many test sentences have other lengths for them. They count other units, so a range of
// lengths selects other sentences.
bool count_lengths_otherwise(const StoredResults& a, const StoredResults& b) {
  return a.source_lengths.size() == b.source_lengths.size() && a.source_lengths != b.source_lengths;
}

double value_of(const Measurement& m, const Run& run, Index draw) {
  const StoredResults& results = run.results;
  if (!m.of_diagnostic()) return results.value(m.metric, drawn_sentences(run, m, draw));
  const auto found = results.found.find(m.metric);
  return found == results.found.end()
             ? kUndefined
             : found->second.mean(static_cast<double>(m.shortest), static_cast<double>(m.longest));
}

bool is_defined(const Measurement& m, const std::vector<Run>& seeds) {
  return std::none_of(
      seeds.begin(), seeds.end(), [&](const Run& run) { return std::isnan(value_of(m, run, 0)); });
}

std::string why_undefined(const Measurement& m, const Run& run) {
  if (!m.of_diagnostic()) return " is not defined over its test sentences";
  const auto found = run.results.found.find(m.metric);
  if (found == run.results.found.end())
    return " is not an array of its record; softalign show RUN --diagnostic NAME lists them";
  const Array1d& all = found->second.places;
  std::vector<double> places(all.begin(), all.end());
  std::erase_if(places, [&](double place) { return std::isnan(found->second.mean(place, place)); });
  if (places.empty()) return " is not defined";
  return fmt::format(
      " has no number at these positions, only from {} to {}", places.front(), places.back());
}

// Both sides of a claim and their difference, for each seed.
struct Sides {
  std::vector<double> left, right, difference;
};

Sides sides_of(const Statement& statement,
               const Measured& measured,
               std::size_t seeds,
               Index draw) {
  Sides sides;
  for (std::size_t s = 0; s < seeds; ++s) {
    std::vector<double> values;
    for (const Measurement& m : statement.measurements()) {
      values.push_back(value_of(m, measured(m).at(s), draw));
    }
    sides.left.push_back(statement.left(values));
    sides.right.push_back(statement.right(values));
    sides.difference.push_back(sides.left.back() - sides.right.back());
  }
  return sides;
}

// Returns whether the evidence decides the claim: the corrected p; for one seed, which has none, the interval over
// sentences; without either it does not. If nothing varies, all seeds must agree.
bool is_supported(const JudgedClaim& judged) {
  if (judged.estimate.error == 0)  // nothing varies
    return judged.seeds == (judged.agrees() ? judged.difference.count : 0);
  if (!std::isnan(judged.p_holm)) return judged.p_holm < kLevel;
  const Range& interval = judged.estimate.interval;
  return interval.low > 0 || interval.high < 0;
}

JudgedClaim judge(const StudyClaim& claim, std::size_t seeds, const Measured& measured) {
  JudgedClaim judged;
  judged.claim = &claim;
  const Statement& statement = claim.statement;
  const bool resampled =
      !std::ranges::all_of(statement.measurements(), &Measurement::of_diagnostic);
  if (resampled) judged.sentences = std::numeric_limits<Index>::max();
  std::map<std::string, const StoredResults*> first;  // that has a range of lengths, by part
  for (const Measurement& m : statement.measurements()) {
    const auto& runs = measured(m);
    if (runs.size() < seeds) return judged;
    if (m.of_diagnostic()) continue;
    const bool all = m.shortest == Measurement().shortest && m.longest == Measurement().longest;
    if (!all &&
        count_lengths_otherwise(runs.front().results,
                                *first.emplace(m.part, &runs.front().results).first->second)) {
      judged.verdict = Verdict::unmeasured;
      judged.nothing = m.text + " counts lengths in another unit (evaluate.length_unit)";
      return judged;
    }
    for (const Run& run : runs) {
      const Index n = std::ssize(run.results.of_length(m.shortest, m.longest));
      if (n == 0) judged.nothing = m.text;
      judged.sentences = std::min(judged.sentences, n);
    }
  }
  if (resampled && judged.sentences == 0) {
    judged.verdict = Verdict::empty;
    return judged;
  }
  Index units = std::numeric_limits<Index>::max();  // independent sentences
  for (const Measurement& m : statement.measurements())
    if (!m.of_diagnostic())
      units = std::min(units, independent_sentences(measured(m).front().results, m));
  const bool enough = resampled && units >= kFewestSentences;
  for (const Measurement& m : statement.measurements()) {
    if (is_defined(m, measured(m))) continue;
    judged.verdict = Verdict::unmeasured;
    judged.nothing = m.text + why_undefined(m, measured(m).front());
    return judged;
  }
  const Sides sides = sides_of(statement, measured, seeds, 0);
  judged.left = over_seeds(sides.left);
  judged.right = over_seeds(sides.right);
  judged.difference = over_seeds(sides.difference);
  for (std::size_t s = 0; s < seeds; ++s)
    judged.seeds += statement.holds(sides.left[s], sides.right[s]) ? 1 : 0;
  std::vector<double> drawn;
  for (Index k = 1; enough && k <= kResamples; ++k)
    drawn.push_back(over_seeds(sides_of(statement, measured, seeds, k).difference).mean);
  judged.estimate = estimate(sides.difference, drawn, resampled ? units : 0);
  judged.verdict = Verdict::undecided;  // decided together with the other claims
  return judged;
}

// Returns the lines below a verdict.
std::string evidence_text(const JudgedClaim& judged) {
  const bool small = std::max(std::abs(judged.left.mean), std::abs(judged.right.mean)) < 2;
  const int decimals = small ? 3 : 2;
  const std::string sides = fmt::format("   {} {}{} {}",
                                        number_text(judged.left, decimals),
                                        judged.agrees() ? "" : "is not ",
                                        judged.claim->statement.comparison(),
                                        number_text(judged.right, decimals)),
                    sentences = judged.sentences > 0
                                    ? fmt::format("; n = {}", counted(judged.sentences, "sentence"))
                                    : "",
                    difference = "difference " + number_text(judged.difference, decimals),
                    seeds = fmt::format("holds for {} of {}",
                                        judged.seeds,
                                        counted(judged.difference.count, "seed"));
  const Estimate& estimate = judged.estimate;
  if (std::isnan(estimate.error))
    return fmt::format("{}{}\n   {}; no interval: too few seeds or sentences; {}\n",
                       sides,
                       sentences,
                       difference,
                       seeds);
  return fmt::format(
      "{}{}\n   {}, 95 % in [{:.{}f}, {:.{}f}], {}; {}\n",
      sides,
      sentences,
      difference,
      estimate.interval.low,
      decimals,
      estimate.interval.high,
      decimals,
      std::isnan(judged.p_holm)
          ? std::string("for this seed only")
          : fmt::format("p {}, corrected {}", p_text(estimate.p), p_text(judged.p_holm)),
      seeds);
}

// In the order of Verdict. expected, open: the first words of a claim's line.
struct VerdictWords {
  const char *name, *expected, *open;
};
constexpr VerdictWords kVerdicts[] = {{"holds", "holds", "holds"},
                                      {"fails", "FAILS", "does not hold"},
                                      {"undecided", "UNDECIDED", "undecided"},
                                      {"empty", "NO SENTENCES", "no sentences"},
                                      {"unmeasured", "NOT MEASURED", "not measured"},
                                      {"absent", "NO COMPLETE RUNS", "no complete runs"},
                                      {"unknown", "", ""}};

const VerdictWords& words_of(Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

}  // namespace

void check_metric(const std::string& name, const Position& where) {
  if (metric_named(name)) return;
  if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
    Registry::instance().find(DiagnosticKind::name, name.substr(0, dot), where);
    return;
  }
  std::vector<std::string> known;
  for (const NamedMetric& metric : default_metrics()) known.push_back(metric.name);
  throw SpecError(
      "{}: unknown metric '{}'{}", where.str(), printable(name), suggestion(name, known));
}

std::string number_text(const Seeds& seeds, int decimals) {
  if (std::isnan(seeds.mean)) return "-";
  const std::string mean = decimal_text(seeds.mean, decimals);
  if (seeds.count < 2 || std::isinf(seeds.mean)) return mean;
  return mean + " ±" + decimal_text(seeds.deviation, decimals);
}

Json json_of(const Seeds& seeds) {
  return {{"mean", seeds.mean}, {"deviation", seeds.deviation}, {"seeds", seeds.count}};
}

namespace {

Json json_of(const JudgedClaim& judged) {
  Json json{{"claim", judged.claim->statement.text()},
            {"because", judged.claim->because},
            {"expect", judged.claim->open ? "open" : "holds"},
            {"verdict", words_of(judged.verdict).name}};
  if (!judged.best.empty()) json["best"] = judged.best;
  if (!judged.judged()) return json;
  json["left"] = json_of(judged.left);
  json["right"] = json_of(judged.right);
  json["difference"] = json_of(judged.difference);
  json["estimate"] = stored(judged.estimate);
  json["estimate"]["p_holm"] = judged.p_holm;
  json["seeds"] = judged.seeds;
  json["sentences"] = judged.sentences;
  return json;
}

}  // namespace

Json claims_json(const std::vector<JudgedClaim>& claims) {
  Json json = Json::array();
  for (const JudgedClaim& claim : claims) json.push_back(json_of(claim));
  return json;
}

bool broken(const std::vector<JudgedClaim>& claims) {
  return std::ranges::any_of(claims, &JudgedClaim::broken);
}

std::vector<JudgedClaim> judge(const std::vector<StudyClaim>& claims,
                               std::size_t seeds,
                               const Measured& measured) {
  std::vector<JudgedClaim> judged;
  std::vector<double> p;
  for (const StudyClaim& claim : claims)
    p.push_back(judged.emplace_back(judge(claim, seeds, measured)).estimate.p);
  p = holm(p);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    judged[i].p_holm = p[i];
    if (judged[i].judged() && is_supported(judged[i]))
      judged[i].verdict = judged[i].agrees() ? Verdict::holds : Verdict::fails;
  }
  return judged;
}

std::string claims_text(const std::vector<JudgedClaim>& claims) {
  std::string text;
  Index unknown = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const JudgedClaim& judged = claims[i];
    if (judged.verdict == Verdict::unknown) {
      ++unknown;
      continue;
    }
    const Statement& statement = judged.claim->statement;
    const VerdictWords& words = words_of(judged.verdict);
    text += fmt::format("{}. {}: {}\n",
                        i + 1,
                        judged.claim->open ? std::string("open, ") + words.open : words.expected,
                        statement.text());
    if (judged.verdict == Verdict::empty)
      text += fmt::format("   no test sentence has the length of {}\n", judged.nothing);
    else if (judged.verdict == Verdict::unmeasured)
      text += fmt::format("   {}\n", judged.nothing);
    else if (judged.verdict == Verdict::absent)
      text += fmt::format("   no runs of {} are complete with all seeds\n", judged.nothing);
    else
      text += evidence_text(judged);
    for (const std::string& best : judged.best) text += fmt::format("   {}\n", best);
    if (!judged.claim->because.empty())
      text += fmt::format("   because {}\n", printable(judged.claim->because, kWhole));
  }
  if (std::ranges::any_of(claims,
                          [](const JudgedClaim& claim) { return !std::isnan(claim.p_holm); }))
    text += fmt::format(
        "±           standard deviation over the seeds\n{}corrected   p corrected for all claims "
        "(Holm); a claim holds or fails if it is below {}\n",
        chance_text(kResamples),
        kLevel);
  if (unknown > 0)
    text += fmt::format("{} {} not judged yet: runs are missing\n",
                        unknown,
                        unknown == 1 ? "claim is" : "claims are");
  return text;
}

}  // namespace softalign
