// Reading the file of a study, and planning its runs.
#include <boost/test/unit_test.hpp>
#include "framework/record/file.hpp"
#include "framework/runs/plan.hpp"
#include "framework/runs/run_list.hpp"
#include "tests/runs/small_study.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

constexpr const char* kClaim = "  - claim: token_accuracy(reverse/none) >= 0\n";

// Returns the error ("accepted" if there is none) of reading and planning the small study with `from`
// replaced by `to`.
std::string refusal_of(const std::string& from, const std::string& to) {
  const Scratch folder;
  const std::string file = write_study(folder, kClaim);
  std::string text = bytes_of(file);
  const auto at = text.find(from);
  BOOST_REQUIRE(at != std::string::npos);
  folder.write("study.yaml", text.replace(at, from.size(), to));
  return refusal([&] { plan_sweep(read_sweep(file), {}, (folder / "results"), resolve_spec); },
                 folder.path());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(study)

BOOST_AUTO_TEST_CASE(parts_variants_and_seeds_become_runs) {
  const Scratch folder;
  const Sweep study = read_sweep(write_study(folder, kClaim));
  const auto [list, wanted, lengths] = plan_sweep(study, {}, (folder / "results"), resolve_spec);
  BOOST_REQUIRE(list.rows.size() == 4u);
  BOOST_TEST(wanted == (std::vector<std::size_t>{0, 1, 2, 3}));
  BOOST_TEST(lengths.at("reverse") == (std::vector<Index>{2, 4, 6}));
  BOOST_TEST(list.rows[0].variant == "none");
  BOOST_TEST(list.rows[1].seed == 2);
  BOOST_TEST(setting_text(list, list.rows[1]) == "reverse/none seed=2");
  const Spec none = row_spec(list, list.rows[0], resolve_spec).spec,
             additive = row_spec(list, list.rows[2], resolve_spec).spec;
  BOOST_TEST(additive.name == "reverse-additive");
  BOOST_TEST(additive.model.embedding == 9);  // an override of the variant
  BOOST_TEST(none.model.embedding == 8);      // of the base
  BOOST_TEST(none.model.attention.type == "none");
  BOOST_TEST(list.rows[3].below == "reverse-additive/" + list.rows[3].run_id);
  BOOST_TEST(!std::filesystem::exists((folder / "results")));
}

// A changed study keeps its earlier runs in their folders.
BOOST_AUTO_TEST_CASE(a_study_s_list_only_grows) {
  const Scratch folder;
  const std::string file = write_study(folder, kClaim), text = read_file(file);
  const auto plan = [&](const std::string& changed) {
    return plan_sweep(
        read_sweep(folder.write("study.yaml", changed)), {}, (folder / "results"), resolve_spec);
  };
  BOOST_TEST(write_list(plan(text).list) == 4);
  std::string changed = text;
  changed.replace(changed.find("[1, 2]"), 6, "[2, 3]");
  const Plan later = plan(changed);
  BOOST_TEST(later.list.rows.size() == 6u);
  BOOST_TEST(later.wanted == (std::vector<std::size_t>{1, 4, 3, 5}));
  BOOST_TEST(write_list(later.list) == 2);
  const RunList back = read_list((folder / "results/small"));
  BOOST_TEST(back.rows.size() == 6u);
  BOOST_TEST(row_spec(back, back.rows[4], resolve_spec).spec.seed == 3);
  BOOST_TEST(plan(text).wanted == (std::vector<std::size_t>{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(only_the_parts_that_are_chosen_are_resolved) {
  const Scratch folder;
  std::string text = read_file(write_study(folder, kClaim));
  text.insert(text.find("claims:"), "  broken: {base: none.yaml, report: {metrics: [nonsense]}}\n");
  text += "  - claim: nonsense(broken/none) > 0\n";
  const Sweep study = read_sweep(folder.write("study.yaml", text));
  const auto plan = [&](const std::string& pattern) {
    return plan_sweep(study, {}, (folder / "results"), resolve_spec, pattern);
  };
  BOOST_TEST(plan("reverse/*").wanted.size() == 4u);
  BOOST_TEST(plan("reverse/none").wanted.size() == 4u);  // the whole part: its tables need it
  BOOST_TEST(plan("reverse/none").chosen("reverse/none").size() == 2u);
  BOOST_TEST(plan("reverse/none").chosen("").size() == 4u);
  for (const char* pattern : {"*/none", "reverse"}) BOOST_CHECK_THROW(plan(pattern), SpecError);
}

BOOST_AUTO_TEST_CASE(overrides_of_the_command_line_come_last) {
  const Scratch folder;
  const Sweep study = read_sweep(write_study(folder, kClaim));
  const RunList list = plan_sweep(study,
                                  numbered_overrides({"model.embedding=7", "name=mine"}),
                                  (folder / "results"),
                                  resolve_spec)
                           .list;
  const Spec spec = row_spec(list, list.rows[2], resolve_spec).spec;
  BOOST_TEST(spec.model.embedding == 7);
  BOOST_TEST(spec.name == "reverse-additive");  // so that folders stay apart
}

BOOST_AUTO_TEST_CASE(a_part_has_its_own_variants) {
  const Scratch folder;
  const std::string file = write_study(folder, kClaim);
  std::string text = bytes_of(file);
  text.replace(text.find("    report"),
               0,
               "    variants: {none: {model.attention: none, model.embedding: 3}, dot: "
               "{model.attention.score: dot}}\n");
  const Sweep study = read_sweep(folder.write("study.yaml", text));
  BOOST_REQUIRE(study.parts[0].variants.size() == 3u);
  BOOST_TEST(study.parts[0].variants[0].name == "none");
  BOOST_TEST(study.parts[0].variants[0].changes.size() == 2u);
  BOOST_TEST(study.parts[0].variants[2].name == "dot");
}

BOOST_AUTO_TEST_CASE(a_study_has_a_tiny_form) {
  const Scratch folder;
  const std::string file = write_study(folder, kClaim);
  std::string text = bytes_of(file);
  text.insert(text.find("    report"),
              "    tiny: {train.optimizer.learning_rate: 0.5, model.embedding: 3}\n");
  const auto spec = [&](bool tiny, std::size_t row) {
    const Sweep study = read_sweep(folder.write("study.yaml", text), tiny);
    const RunList list = plan_sweep(study, {}, (folder / "results"), resolve_spec).list;
    BOOST_TEST(list.folder.filename() == (tiny ? "small-tiny" : "small"));
    return row_spec(list, list.rows[row], resolve_spec).spec;
  };
  BOOST_TEST(spec(false, 0).model.embedding == 8);
  BOOST_TEST(spec(true, 0).model.embedding == 3);  // takes precedence over the part's ...
  BOOST_TEST(spec(true, 1).model.embedding == 9);  // ... but not the variant's overrides; one seed
  BOOST_TEST(contains(refusal_of("    report", "    tiny: [x]\n    report"), "study.yaml:12:"));
  text = bytes_of(write_study(folder, kClaim));
  BOOST_TEST(spec(true, 0).train.max_updates.value_or(0) == 2);  // the default
  text.insert(text.find("parts:"), "tiny: {model.embedding: 4}\n");
  BOOST_TEST(spec(true, 0).model.embedding == 4);  // the study's, for parts without their own
  text.insert(text.find("    report"), "    tiny: {model.embedding: 3}\n");
  BOOST_TEST(spec(true, 0).model.embedding == 3);
}

BOOST_AUTO_TEST_CASE(claims_are_expected_to_hold_or_open) {
  const Scratch folder;
  const Sweep study =
      read_sweep(write_study(folder, kClaim + std::string(kClaim) + "    expect: open\n"));
  BOOST_TEST(!study.claims[0].open);
  BOOST_TEST(study.claims[1].open);
  const std::string claim = "none) >= 0";
  BOOST_TEST(places_of(refusal_of(claim, claim + "\n    expect: most")) == "15:13");
}

BOOST_AUTO_TEST_CASE(the_wrong_kind_of_file_is_called_what_it_is) {
  const Scratch folder;
  const std::string study = write_study(folder, kClaim);
  BOOST_TEST(refusal([&] { read_sweep((folder / "base.yaml")); }, folder.path()) ==
             "base.yaml:2:1: this is an experiment, not a study: softalign run base.yaml");
  BOOST_TEST(refusal([&] { load_spec<Spec>(study); }, folder.path()) ==
             "study.yaml:8:1: this is a study, not an experiment: softalign study study.yaml");
}

BOOST_AUTO_TEST_CASE(faults_have_a_place) {
  const std::string claim = "claim: token_accuracy(reverse/none) >= 0";
  struct Fault {
    std::string from, to, place;
  };
  for (const auto& [from, to, place] : std::vector<Fault>{
           {"question", "qestion", "3:1"},
           {"    report", "    reprot", "12:5"},
           {"{model.attention: none}", "{seed: 5}", "6:10"},
           {"{model.attention: none}", "{name: x}", "6:10"},
           {"[1, 2]", "[1, 1]", "4:12"},
           {"[1, 2]", "[x]", "4:9"},
           {"[1, 2]", "[]", "4:8"},
           {"name: small", "name: ../small", "2:7"},
           {"token_accuracy, perplexity", "token_acuracy", "12:24"},
           {"none) >=", "nine) >=", "14:12"},
           {"(reverse/none) >=", "(revers/none) >=", "14:12"},
           {claim, "claim: 2 > 1", "14:12"},
           {claim, "claim: bleu(best where score={type: dot}) > 3", "14:39"},
           {claim, "claim: bleu(reverse #none) > 3", "14:12"},
           {claim, "claim: bleu(p/a) > bleu(p/a)", "14:12"},
           {claim, "claim: bleu(p/a) + 1 >= bleu( p/a )", "14:12"},
           {claim, "claim: 2 * bleu[1-5](p/a) - bleu[1-5](p/a) < bleu[1-5](p/a)", "14:12"},
           {claim, "claim: 0 * bleu(p/a) < 1", "14:12"},
           {"claims:", "claims: [x]\nmore:", "14:1"},
           {"base: base.yaml", "base: bse.yaml", "10:11"},
           {"learning_rate: 0.02", "learning_rat: 0.02", "11:37"},  // an option of the spec
           {"model.embedding=9", "model.embeding=9", "7:45"}})
    BOOST_TEST(places_of(refusal_of(from, to)) == place, to << ": " << refusal_of(from, to));
  // A variant that changes nothing is a mistake.
  BOOST_TEST(refusal_of("{model.attention: none}",
                        "[model.attention.score.units=5, model.embedding=9]") != "accepted");
}

BOOST_AUTO_TEST_SUITE_END()
