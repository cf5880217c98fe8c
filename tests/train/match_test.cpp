// Fair baselines: widths that make a model as large or as costly as another, and what a forward pass takes.
#include "framework/train/match.hpp"

#include <boost/test/unit_test.hpp>

#include "framework/base/counted.hpp"
#include "framework/base/path.hpp"
#include "framework/base/types.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/task.hpp"
#include "framework/kernels/work.hpp"
#include "framework/seq/cost.hpp"
#include "framework/train/check_spec.hpp"
#include "framework/train/run_name.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

constexpr const char* kTask = "task: {type: reverse, symbols: 20}\n";
const std::string kAdditive =
    "model: {embedding: 32, encoder: {type: gru, units: 48},\n"
    "  attention: {type: global, score: {type: additive, units: 40}},\n"
    "  decoder: {type: attentional_gru, units: 64}";
const std::string kTransformer =
    "model: {embedding: 32, encoder: {type: self_attention, units: 32, feed_forward: 64},\n"
    "  attention: built_in, decoder: {type: transformer, units: 32, feed_forward: 64}";

ModelOptions model_of(const std::string& yaml) {
  return parse_spec<Spec>(kTask + yaml + "}", "m.yaml").spec.model;
}

// Of 23 symbols on both sides; not by the code that is tested.
Index amount(const ModelOptions& options, const std::string& by) {
  if (by == "multiplications") return cost_of(options, 23, 23, {}).multiplications / 20;
  Index sum = 0;
  const Model model(options, 23, 23);
  for (const Parameter& parameter : model.parameters().all()) sum += parameter.shape.size();
  return sum;
}

struct Files {
  Files() { folder.write("additive.yaml", kTask + kAdditive + "}\n"); }
  fs::path spec(const std::string& model, const std::string& match) const {
    return folder.write("s.yaml", kTask + model + ",\n  match: {" + match + "}}\n");
  }
  std::string refused(const std::string& model, const std::string& match) const {
    return refusal([&] { load_spec<Spec>(spec(model, match)); }, folder.path());
  }
  Scratch folder;
};

std::string text(const Spec& spec, const std::string& path) {
  for (const OptionLeaf& leaf : option_leaves(spec))
    if (leaf.path == path) return leaf.value;
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matches)

BOOST_AUTO_TEST_CASE(a_matched_run_is_the_run_with_its_widths_written_by_hand) {
  const Files files;
  const Index parameters = amount(model_of(kAdditive), "parameters");
  const Index multiplications = amount(model_of(kAdditive), "multiplications");
  BOOST_TEST(parameters != multiplications);
  const std::string vanilla =
      "model: {embedding: 32, encoder: {type: gru, units: 48}, attention: none,\n"
      "  decoder: {type: attentional_gru, units: 64}";
  const std::string lstm = "model: {embedding: 20, encoder: {type: lstm}, decoder: luong_lstm";
  for (const std::string by : {"parameters", "multiplications"})
    for (const auto& [model, adjust] :
         {std::pair(vanilla, "model.decoder.units"),
          {vanilla, "[model.encoder.units, model.decoder.units]"},
          {lstm, "[model.decoder.units, model.encoder.units]"},
          {kTransformer, "model.decoder.feed_forward"},
          {kTransformer, "[model.encoder.feed_forward, model.decoder.feed_forward]"}}) {
      const auto matched = load_spec<Spec>(
          files.spec(model, fmt::format("to: additive.yaml, by: {}, adjust: {}", by, adjust)));
      check_spec(matched);
      const auto found = static_cast<double>(amount(matched.spec.model, by)),
                 asked = static_cast<double>(by == "parameters" ? parameters : multiplications);
      BOOST_TEST(std::abs(found - asked) <= 0.01 * asked, by << " " << model << " " << adjust);
      BOOST_TEST(contains(matched.notes.back(), match_text(matched.spec)));

      std::vector<std::string> widths = {"~model.match"};
      for (const std::string& path : matched.spec.model.match->adjust)
        widths.push_back(path + "=" + text(matched.spec, path));
      const auto by_hand = [&] {
        SpecTree tree = load_tree(files.folder / "s.yaml", numbered_overrides(widths));
        return resolve<Spec>(std::move(tree)).spec;
      }();
      BOOST_TEST(!by_hand.model.match);
      BOOST_TEST(run_id(matched.spec) == run_id(by_hand));
    }
}

BOOST_AUTO_TEST_CASE(several_widths_keep_their_ratio) {
  const Files files;
  const auto matched = load_spec<Spec>(
      files.spec("model: {encoder: {units: 20}, decoder: {units: 40}, attention: none",
                 "to: additive.yaml, adjust: [model.encoder.units, model.decoder.units]"));
  const Index units = std::stoll(text(matched.spec, "model.encoder.units"));
  BOOST_TEST(units != 20);
  BOOST_TEST(std::abs(std::stoll(text(matched.spec, "model.decoder.units")) - 2 * units) <= 1);
}

// Heads must divide the units: only such widths are tried.
BOOST_AUTO_TEST_CASE(widths_that_are_not_legal_are_passed_over) {
  const Files files;
  files.folder.write("wide.yaml",
                     kTask + std::string("model: {embedding: 400, encoder: {units: 288}}"));
  const auto matched = load_spec<Spec>(
      files.spec("model: {embedding: 128, encoder: {type: self_attention, units: 128, heads: 2},\n"
                 "  attention: built_in, decoder: {type: transformer, units: 128, heads: 2}",
                 "to: wide.yaml, adjust: [model.encoder.units, model.decoder.units]"));
  const Index units = std::stoll(text(matched.spec, "model.encoder.units"));
  BOOST_TEST(units % 2 == 0);
  BOOST_TEST(units > 128);
}

BOOST_AUTO_TEST_CASE(what_has_been_matched_needs_no_other_file) {
  const Files files;
  const auto matched = load_spec<Spec>(files.spec(
      "model: {embedding: 32, encoder: {units: 48}, attention: none", "to: additive.yaml"));
  fs::remove(files.folder / "additive.yaml");
  const std::string yaml = resolved_yaml(matched.spec, matched.origins);
  const auto again = parse_spec<Spec>(yaml, "record.yaml");
  BOOST_TEST(run_id(again.spec) == run_id(matched.spec));
  BOOST_TEST(match_text(again.spec) == match_text(matched.spec));
  // What somebody makes of it later is as large again.
  const auto changed = parse_spec<Spec>(yaml, "record.yaml", {"model.embedding=16"});
  const Index target = *again.spec.model.match->target;
  BOOST_TEST(std::abs(amount(changed.spec.model, "parameters") - target) <= target / 100);
  BOOST_TEST(text(changed.spec, "model.decoder.units") != text(again.spec, "model.decoder.units"));
  // A number alone will do.
  const auto number =
      parse_spec<Spec>(fmt::format("{}model: {{match: {{target: {}}}}}", kTask, 2000000), "n.yaml");
  BOOST_TEST(std::abs(amount(number.spec.model, "parameters") - 2000000) <= 20000);
}

BOOST_AUTO_TEST_CASE(what_has_no_solution_is_refused_with_its_place) {
  const Files files;
  const Index target = amount(model_of(kAdditive), "parameters");
  const auto gives = [&](const std::string& model, Index units) {
    const Index found = amount(model_of(fmt::format(fmt::runtime(model), units)), "parameters");
    return fmt::format("model.decoder.units={} gives {} parameters, {:+.2f} %",
                       units,
                       with_commas(found),
                       100 * static_cast<double>(found - target) / static_cast<double>(target));
  };
  const std::string nothing = fmt::format(
      "model.match: nothing comes within 1 % of {} of additive.yaml: ", with_commas(target));
  const std::string narrow = "model: {{attention: none, decoder: {{units: {}}}";
  BOOST_TEST(files.refused(fmt::format(fmt::runtime(narrow), 9), "to: additive.yaml") ==
             "s.yaml:3:10: " + nothing + gives(narrow, 1) + "; adjust another option, or more");
  const std::string coarse =
      "model: {{embedding: 32, encoder: {{type: self_attention, units: 32, feed_forward: 64}},\n"
      "  attention: built_in, decoder: {{type: transformer, feed_forward: 64, units: {}}}";
  BOOST_TEST(files.refused(fmt::format(fmt::runtime(coarse), 32), "to: additive.yaml") ==
             "s.yaml:4:10: " + nothing + gives(coarse, 56) + ", and " + gives(coarse, 60) +
                 "; adjust another option, or more");
  BOOST_TEST(contains(files.refused(kAdditive, "to: additive.yaml, adjust: model.decoder.unit"),
                      "s.yaml:5:38: model.match.adjust: 'model.decoder.unit' is no size of this "
                      "model; did you mean 'model.decoder.units'?"));
  BOOST_TEST(contains(files.refused(kAdditive, "to: additive.yaml, adjust: [train.epochs]"),
                      "s.yaml:5:39: model.match.adjust: 'train.epochs' is no size of this model"));
  BOOST_TEST(contains(files.refused(kAdditive, "to: nowhere.yaml"),
                      "s.yaml:5:15: nowhere.yaml: cannot be read"));
  BOOST_TEST(contains(files.refused(kAdditive, "by: parameters"),
                      "s.yaml:5:3: model.match.to: name the spec that is matched"));
  BOOST_TEST(contains(files.refused(kAdditive, "to: additive.yaml, by: width"),
                      "s.yaml:5:34: model.match.by: 'width' is not known here"));
}

BOOST_AUTO_TEST_CASE(a_match_may_be_matched_to_another_but_not_in_a_circle) {
  const Files files;
  const std::string head =
      kTask + std::string("model: {attention: none, encoder: {units: 40}, embedding: ");
  files.folder.write("b.yaml", head + "16, match: {to: additive.yaml}}");
  const auto a = load_spec<Spec>(files.folder.write("a.yaml", head + "8, match: {to: b.yaml}}"));
  BOOST_TEST(std::abs(amount(a.spec.model, "parameters") - 84583) <= 2 * 845);
  files.folder.write("b.yaml", head + "16, match: {to: a.yaml}}");
  BOOST_TEST(refusal([&] { load_spec<Spec>(files.folder / "a.yaml"); }, files.folder.path()) ==
             "a.yaml:2:74: model.match.to: specs match each other in a circle: b.yaml -> a.yaml -> "
             "b.yaml; "
             "remove one of them");
  // To its own file from outside: as large as it was without the change.
  const auto own = load_spec<Spec>(
      files.folder / "additive.yaml",
      {"model.attention=none", "model.match.to=" + (files.folder / "additive.yaml").string()});
  BOOST_TEST(std::abs(amount(own.spec.model, "parameters") - 84583) <= 845);
}

// The vocabulary option is a bound; the text has fewer symbols.
BOOST_AUTO_TEST_CASE(symbols_of_files_are_those_that_the_data_has) {
  const Files files;
  files.folder.write("a.en", "the red house\na dog\n");
  files.folder.write("a.es", "la casa roja grande\nun perro\n");
  const std::string split = "{source: a.en, target: a.es}";
  const std::string task = fmt::format(
      "task: {{type: parallel_text, train: {0}, dev: {0}, test: {0}}}\nmodel: {{embedding: 16, ",
      split);
  files.folder.write("global.yaml", task + "encoder: {units: 24}}");
  const auto matched = load_spec<Spec>(files.folder.write(
      "none.yaml",
      task + "encoder: {units: 24}, attention: none, match: {to: global.yaml, adjust: "
             "[model.encoder.units, model.decoder.units]}}"));
  BOOST_TEST((*matched.spec.model.match->symbols == std::vector<Index>{3 + 5, 3 + 6}));
  // Those that are given are believed, and nothing is read.
  fs::remove(files.folder / "a.en");
  const auto given = load_spec<Spec>(files.folder / "none.yaml", {"model.match.symbols=[50, 60]"});
  BOOST_TEST((*given.spec.model.match->symbols == std::vector<Index>{50, 60}));
}

// A task that makes its sentences is believed to know how many symbols there are.
BOOST_AUTO_TEST_CASE(what_a_task_says_of_its_symbols_is_so) {
  Index made = 0;
  for (const PluginEntry* entry : Registry::instance().entries(TaskKind::name)) {
    if (entry->name == "parallel_text" || entry->name == "image_captions") continue;  // need files
    const auto task = make_plugin<TaskKind>(Choice{.kind = "task", .type = entry->name});
    const DataOutline outline = task->outline();
    if (outline.test.examples == 0) continue;
    const Dataset data = task->load(1, {});
    BOOST_TEST((data.source ? data.source->size() : 0) == outline.source_symbols, entry->name);
    BOOST_TEST((data.frames() == outline.frames), entry->name);
    BOOST_TEST(data.target->size() == outline.target_symbols, entry->name);
    ++made;
  }
  BOOST_TEST(made >= 5);
}

BOOST_AUTO_TEST_CASE(multiplications_are_those_of_the_formulas) {
  const Index E = 32, U = 48, A = 40, D = 64, R = D / 2, V = 23, S = 7, T = 5;
  const Cost cost = cost_of(model_of(kAdditive), V, V, {S, T});
  const Index encoder = 2 * (S * E * 3 * U + (S - 1) * 3 * U * U);  // h_0 is zero
  const Index once = U * D + S * 2 * U * A;                         // s_0, keys
  const Index step = E * 3 * D + D * A + S * A + S * 2 * U + 2 * U * 3 * D + 3 * D * D +
                     (D + 2 * U + E) * 2 * R + R * V;
  BOOST_TEST(cost.multiplications == encoder + once + T * step);
  BOOST_TEST(cost.projection == T * R * V);
  BOOST_TEST(cost.energies == S * T);
  BOOST_TEST(cost.target_symbols == T);
  BOOST_TEST(cost.activations > 4 * (S * 2 * U + T * D));
  BOOST_TEST(cost.activations < cost_of(model_of(kAdditive), V, V, {S, 2 * T}).activations);
}

BOOST_AUTO_TEST_CASE(energies_are_the_scores_between_the_two_sides) {
  const auto energies = [](const std::string& yaml) {
    return cost_of(model_of(yaml), 23, 23, {.source = 40, .target = 40}).energies;
  };
  BOOST_TEST(energies(kAdditive) == 1600);
  BOOST_TEST(energies("model: {attention: none") == 0);
  BOOST_TEST(energies("model: {attention: uniform") == 0);
  BOOST_TEST(
      energies("model: {attention: {type: global, score: {type: location, positions: 30}}") ==
      30 * 40);
  BOOST_TEST(energies("model: {attention: local_m") ==
             40 * 21 - 2 * 55);  // 10 to 1 are missing at the ends
  BOOST_TEST(energies("model: {attention: {type: multi_head, heads: 4}") == 4 * 1600);
  BOOST_TEST(energies(kTransformer) == 2 * 4 * 1600);  // layers, heads
}

// What is skipped is what would be computed.
BOOST_AUTO_TEST_CASE(every_part_of_a_model_can_be_asked) {
  const auto check = [](const std::string& yaml) {
    const ModelOptions options = model_of(yaml);
    const Cost cost = cost_of(options, 23, 23, {9, 8});
    Model model(options, 23, 23, 1);
    const Index first = 0;
    Batch batch = make_batch(equal_sentences(1, 9, 8), {&first, 1}, model.reads_links());
    model.place_links(batch);
    Tape tape(Tape::Mode::infer);
    const Work before = work_of_thread();
    model.forward(tape, batch, real{1});
    const Work after = work_of_thread();
    const Index multiplications = after.multiplications - before.multiplications;
    if (yaml.find("monotonic") == yaml.npos)
      BOOST_TEST(multiplications == cost.multiplications, yaml);
    else
      BOOST_TEST(multiplications <= cost.multiplications,
                 yaml);  // nobody reads where a weight is 0
    BOOST_TEST(after.energies - before.energies == cost.energies, yaml);
  };
  for (const auto& [kind, rest] :
       {std::pair("encoder", ", attention: {type: global, score: {type: additive, units: 9}}"),
        {"attention", ""},
        {"decoder", ", attention: {type: global, score: {type: additive, units: 9}}"}})
    for (const PluginEntry* entry : Registry::instance().entries(kind)) {
      if (entry->name == "image_grid" || entry->name == "built_in") continue;
      const bool whole = entry->name == "transformer";
      check(fmt::format("model: {{embedding: 16, {}: {}{}",
                        kind,
                        entry->name,
                        whole ? ", attention: built_in" : rest));
    }
}

BOOST_AUTO_TEST_SUITE_END()
