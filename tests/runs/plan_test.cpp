// The rows and the file of a plan, and plans that are edited, extended or written twice.
#include "framework/runs/run_list.hpp"

#include <regex>

#include <boost/test/unit_test.hpp>
#include "framework/base/files.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/local_run.hpp"
#include "framework/runs/plan.hpp"
#include "tests/runs/small_study.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

const std::string kHead = "name: s\nbase: base.yaml\n";
const std::string kParameters =
    "parameters:\n  model.attention.score.type: {values: [additive, general]}\n"
    "  model.embedding: {values: [8, 9]}\n";

struct Planned {
  Planned() { write_study(folder, ""); }  // for its base.yaml

  RunList plan(const std::string& text) const {
    const Sweep sweep = read_sweep(folder.write("sweep.yaml", text));
    return plan_sweep(sweep, {}, folder / "results", resolve_spec).list;
  }
  std::string refusal_of(const std::string& text) const {
    return refusal([&] { plan(text); }, folder.path());
  }
  std::string ids(const RunList& plan) const {
    std::string text;
    for (const ListedRun& row : plan.rows) text += row.run_id + " ";
    return text;
  }
  fs::path file() const { return ListFolder{(folder / "results/s")}.plan(); }

  Scratch folder;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(plans)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  const Planned p;
  const RunList made = p.plan(kHead + "seeds: {first: 3, count: 2}\n" + kParameters);
  BOOST_REQUIRE(made.rows.size() == 8u);
  BOOST_TEST(setting_text(made, made.rows[3]) == "score=additive embedding=9 seed=4");
  BOOST_TEST(write_list(made) == 8);
  BOOST_TEST(write_list(made) == 0);  // an equal plan exists already
  const RunList back = read_list(made.folder);
  BOOST_TEST(back.name == "s");
  BOOST_TEST(back.metric.name == "dev/loss");
  BOOST_TEST(back.metric.goal == "minimize");
  BOOST_TEST(back.base == made.base);
  BOOST_TEST(p.ids(back) == p.ids(made));
  for (std::size_t i = 0; i < made.rows.size(); ++i) {
    BOOST_TEST(back.rows[i].seed == made.rows[i].seed);
    BOOST_TEST(setting_text(back, back.rows[i]) == setting_text(made, made.rows[i]));
    // A row's spec is a function of the plan alone.
    BOOST_TEST(row_spec(back, back.rows[i], resolve_spec).spec.seed == made.rows[i].seed);
  }
}

BOOST_AUTO_TEST_CASE(a_row_is_the_run_that_the_same_overrides_make) {
  const Planned p;
  const RunList plan = p.plan(kHead + kParameters);
  const auto alone =
      load_spec<Spec>((p.folder / "base.yaml"),
                      {"model.attention.score.type=general", "model.embedding=8", "seed=1"});
  BOOST_TEST(plan.rows[2].run_id == run_name(alone.spec).run_id);
}

BOOST_AUTO_TEST_CASE(a_base_may_extend_another_and_change_a_type) {
  const Planned p;
  p.folder.write("first.yaml", read_file((p.folder / "base.yaml")));
  p.folder.write("base.yaml",
                 "extends: first.yaml\nmodel: {encoder: {type: embedding_mean}, attention: {score: "
                 "{type: general}}}\n");
  const RunList plan = p.plan(kHead + "parameters:\n  train.epochs: {values: [1, 2]}\n");
  write_list(plan);
  const RunList back = read_list(plan.folder);
  for (std::size_t i = 0; i < plan.rows.size(); ++i)
    BOOST_TEST(run_name(row_spec(back, back.rows[i], resolve_spec).spec).run_id ==
               plan.rows[i].run_id);
}

BOOST_AUTO_TEST_CASE(the_plan_does_not_follow_a_base_that_changes_later) {
  const Planned p;
  const RunList plan = p.plan(kHead + kParameters);
  write_list(plan);
  const std::string base = read_file((p.folder / "base.yaml"));
  p.folder.write("base.yaml", std::regex_replace(base, std::regex("epochs: 4"), "epochs: 5"));
  const RunList back = read_list(plan.folder);
  BOOST_TEST(row_spec(back, back.rows[0], resolve_spec).spec.train.epochs == 4);
  BOOST_CHECK_THROW(write_list(p.plan(kHead + kParameters)), SpecError);
}

BOOST_AUTO_TEST_CASE(raising_run_cap_appends_and_changes_no_row) {
  const Planned p;
  const std::string random =
      "method: random\n" + kParameters + "  train.clip_norm: {min: 0.5, max: 2.5}\n";
  write_list(p.plan(kHead + "run_cap: 3\n" + random));
  const std::string before = read_file(p.file());
  const RunList longer = p.plan(kHead + "run_cap: 5\n" + random);
  BOOST_TEST(write_list(longer) == 2);
  BOOST_TEST(write_list(longer) == 0);
  BOOST_TEST(write_list(p.plan(kHead + "run_cap: 3\n" + random)) == 0);  // a plan only grows
  const std::string rows = before.substr(0, before.rfind("{\"rows\":"));
  BOOST_TEST(read_file(p.file()).starts_with(rows));
  BOOST_TEST(p.ids(read_list(p.file().parent_path())) == p.ids(longer));
}

BOOST_AUTO_TEST_CASE(an_edited_plan_is_refused) {
  const Planned p;
  write_list(p.plan(kHead + kParameters));
  const std::string whole = read_file(p.file());
  const auto after = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const auto at = text.find(from);
    BOOST_REQUIRE(at != text.npos);
    FileSystem::real().write_atomically(p.file(), text.replace(at, from.size(), to));
    return refusal([&] { read_list(p.file().parent_path()); }, p.folder.path());
  };
  const auto second = whole.find("{\"k\":1"), third = whole.find("{\"k\":2");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"model.embedding=9", "model.embedding=7"},
           {"minimize", "maximize"},
           {whole.substr(whole.size() - 30), ""},
           {whole.substr(whole.rfind("{\"rows\"")), ""},  // cut off after a row
           {whole.substr(second, third - second), ""}})
    BOOST_TEST(after(from, to).starts_with("results/s/plan.jsonl: changed since it was written"));
  FileSystem::real().write_atomically(p.file(), whole);
  const RunList list = read_list(p.file().parent_path());
  const fs::path base = list.place().base(list.base);
  FileSystem::real().write_atomically(base, read_file(base) + "tags: [a]\n");
  BOOST_TEST(contains(refusal([&] { read_list(list.folder); }, p.folder.path()),
                      ".yaml:1:1: changed since it was planned"));
}

BOOST_AUTO_TEST_CASE(two_rows_that_are_one_run_are_refused) {
  const Planned p;
  for (const std::string values :
       {"  model.encoder: {values: [{type: gru}, {type: gru, units: 8}]}\n",
        "  model.attention.score.type: {values: [additive, general]}\n"
        "  train.early_stopping: {values: [null, ~]}\n"})
    BOOST_TEST(p.refusal_of(kHead + "parameters:\n" + values) != "accepted", values);
}

// Otherwise the table would show a value that the run does not have.
BOOST_AUTO_TEST_CASE(a_setting_that_another_one_undoes_is_refused) {
  const Planned p;
  for (const std::string values :
       {"  model.encoder.units: {values: [6, 7]}\n  model.encoder: {values: [gru]}\n",
        "  model.attention.score.units: {values: [3]}\n"
        "  model.attention.score.type: {values: [additive, general]}\n"})
    BOOST_TEST(p.refusal_of(kHead + "parameters:\n" + values) != "accepted", values);
}

BOOST_AUTO_TEST_CASE(wrong_paths_and_values_are_refused_before_anything_is_written) {
  const Planned p;
  for (const auto& [text, place] : std::map<std::string, std::string>{
           {kHead + "parameters:\n  model.embeding: {values: [8]}\n", "4:3"},
           {kHead + "parameters:\n  model.embedding: {values: [8, x]}\n", "4:33"},
           {kHead + "parameters:\n  train.early_stopping.metric: {values: [loss]}\n", "4:42"},
           {kHead + "parameters:\n  model.embedding.type: {types: all}\n", "4:3"},
           {"name: s\nbase: nothing.yaml\n" + kParameters, "2:7"},
           {"name: s\nbase: " + std::string(300, 'x') + "\n" + kParameters, "2:7"}})
    BOOST_TEST(places_of(p.refusal_of(text)) == place, p.refusal_of(text));
  BOOST_TEST(!fs::exists((p.folder / "results")));
}

BOOST_AUTO_TEST_CASE(the_sweeps_that_people_copy_can_be_planned) {
  const Scratch folder;
  Index count = 0;
  for (const auto& entry : fs::directory_iterator(SOFTALIGN_SOURCE_DIR "/configs/sweeps")) {
    if (entry.path().extension() != ".yaml") continue;
    const RunList plan = plan_sweep(read_sweep(entry.path()), {}, folder.path(), resolve_spec).list;
    BOOST_TEST((plan.rows.empty() == (plan.method == SweepMethod::optuna)), entry.path());
    ++count;
  }
  BOOST_TEST(count >= 3);
}

BOOST_AUTO_TEST_CASE(types_all_are_the_registry_without_those_excluded) {
  const Planned p;
  const RunList plan = p.plan(kHead +
                              "parameters:\n  model.attention.score.type: {types: all, exclude: "
                              "[cosine, dot, scaled_dot]}\n");
  for (const ListedRun& row : plan.rows) BOOST_TEST(!row.set.front().value.text.ends_with("dot"));
  BOOST_TEST(plan.rows.size() == Registry::instance().entries("score").size() - 3);
}

BOOST_AUTO_TEST_SUITE_END()
