// Fair baselines: widths that give a model the size or the cost of another, and the cost of a forward pass.
#include "framework/train/match.hpp"

#include <boost/test/unit_test.hpp>
#include <map>

#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/task.hpp"
#include "framework/kernels/work.hpp"
#include "framework/seq/cost.hpp"
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

// Returns the size of a model with 23 symbols on both sides, without the tested code.
Index amount(const ModelOptions& options, const std::string& by) {
  if (by == "multiplications") return cost_of(options, 23, 23, {}).multiplications / 20;
  Index sum = 0;
  const Model model(options, 23, 23);
  for (const Parameter& parameter : model.parameters().all()) sum += parameter.shape.size();
  return sum;
}

const std::string kVanilla =
    "model: {embedding: 32, encoder: {type: gru, units: 48}, attention: none,\n"
    "  decoder: {type: attentional_gru, units: 64}";

using Widths = std::map<std::string, Index>;

// Returns the size or cost that was found, which is within 1 % of the target.
Widths match(const std::string& yaml, MatchRequest request, Index target) {
  request.symbols = {23, 23};
  const SpecTree tree = parse_tree(kTask + yaml + "}", "s.yaml");
  const Match found = match_widths(tree.root, request, target);
  std::vector<std::string> changes;
  for (const auto& [path, width] : found.widths)
    changes.push_back(fmt::format("{}={}", path, width));
  const ModelOptions model = parse_spec<Spec>(kTask + yaml + "}", "s.yaml", changes).spec.model;
  const Index there = amount(model, request.by);
  BOOST_TEST(there == found.amount);
  BOOST_TEST(std::abs(there - target) <= target / 100, yaml);
  return {found.widths.begin(), found.widths.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matches)

BOOST_AUTO_TEST_CASE(a_model_is_as_large_or_as_costly_as_another) {
  const std::string lstm = "model: {embedding: 20, encoder: {type: lstm}, decoder: luong_lstm";
  using Paths = std::vector<std::string>;
  for (const std::string by : {"parameters", "multiplications"}) {
    const Index target = amount(model_of(kAdditive), by);
    for (const auto& [model, adjust] :
         {std::pair<std::string, Paths>(kVanilla, {"model.decoder.units"}),
          {kVanilla, {"model.encoder.units", "model.decoder.units"}},
          {lstm, {"model.decoder.units", "model.encoder.units"}},
          {kTransformer, {"model.decoder.feed_forward"}},
          {kTransformer, {"model.encoder.feed_forward", "model.decoder.feed_forward"}}})
      match(model, {.by = by, .adjust = adjust}, target);
  }
  match("model: {embedding: 256", {}, 2000000);
}

BOOST_AUTO_TEST_CASE(widths_that_fit_already_are_not_changed) {
  const Index target = amount(model_of(kVanilla), "parameters");
  const Widths found = match(kVanilla, {}, target + target / 200);
  BOOST_TEST(found.at("model.decoder.units") == 64);
}

BOOST_AUTO_TEST_CASE(several_widths_keep_their_ratio) {
  const Widths found = match("model: {encoder: {units: 20}, decoder: {units: 40}, attention: none",
                             {.adjust = {"model.encoder.units", "model.decoder.units"}},
                             amount(model_of(kAdditive), "parameters"));
  const Index units = found.at("model.encoder.units");
  BOOST_TEST(units != 20);
  BOOST_TEST(std::abs(found.at("model.decoder.units") - 2 * units) <= 1);
}

// Only widths that the heads divide are tried.
BOOST_AUTO_TEST_CASE(widths_that_are_not_legal_are_skipped) {
  const Widths found = match(
      "model: {embedding: 128, encoder: {type: self_attention, units: 128, heads: 2},\n"
      "  attention: built_in, decoder: {type: transformer, units: 128, heads: 2}",
      {.adjust = {"model.encoder.units", "model.decoder.units"}},
      amount(model_of("model: {embedding: 400, encoder: {units: 288}"), "parameters"));
  BOOST_TEST(found.at("model.encoder.units") % 2 == 0);
  BOOST_TEST(found.at("model.encoder.units") > 128);
}

BOOST_AUTO_TEST_CASE(what_has_no_solution_is_refused_with_the_nearest_widths) {
  const Index target = amount(model_of(kAdditive), "parameters");
  const auto refused = [&](const std::string& yaml, const MatchRequest& request) {
    return refusal([&] { match(yaml, request, target); });
  };
  const std::string narrow = "model: {attention: none, decoder: {units: 9}",
                    coarse =
                        "model: {embedding: 32, encoder: {type: self_attention, units: 32, "
                        "feed_forward: 64}, attention: built_in, decoder: {type: transformer, "
                        "feed_forward: 64, units: 32}";
  BOOST_TEST(contains(refused(narrow, {}), "model.decoder.units=1 gives "));
  for (const char* nearest : {"model.decoder.units=56 gives ", "model.decoder.units=60 gives "})
    BOOST_TEST(contains(refused(coarse, {}), nearest));
  for (const char* no_size : {"model.decoder.unit", "train.epochs"})
    BOOST_TEST(refused(kAdditive, {.adjust = {no_size}}) != "accepted");
}

// The vocabulary option is an upper bound; the text has fewer symbols.
BOOST_AUTO_TEST_CASE(symbols_of_files_are_those_that_the_data_has) {
  const Scratch folder;
  folder.write("a.en", "the red house\na dog\n");
  folder.write("a.es", "la casa roja grande\nun perro\n");
  const fs::path file =
      folder.write("global.yaml",
                   fmt::format("task: {{type: parallel_text, train: {0}, dev: {0}, test: {0}}}\n",
                               "{source: a.en, target: a.es}"));
  const Symbols found = symbols_of(load_spec<Spec>(file).spec);
  BOOST_TEST(found.source.symbols == 3 + 5);
  BOOST_TEST(found.target == 3 + 6);
}

// Synthetic tasks know their number of symbols.
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
             40 * 21 - 2 * 55);  // less 10 to 1 at both ends
  BOOST_TEST(energies("model: {attention: {type: multi_head, heads: 4}") == 4 * 1600);
  BOOST_TEST(energies(kTransformer) == 2 * 4 * 1600);  // layers, heads
}

// Skipped energies are those that would otherwise be computed.
BOOST_AUTO_TEST_CASE(every_part_of_a_model_can_be_asked) {
  const auto check = [](const std::string& yaml) {
    const ModelOptions options = model_of(yaml);
    const Cost cost = cost_of(options, 23, 23, {9, 8});
    Model model(options, 23, 23, 1);
    const Index first = 0;
    Batch batch = make_batch(equal_sentences(1, 9, 8), {&first, 1}, model.batch_parts());
    model.place_links(batch);
    Tape tape(Tape::Mode::infer);
    const Work before = work_of_thread();
    model.forward(tape, batch, real{1});
    const Work after = work_of_thread();
    const Index multiplications = after.multiplications - before.multiplications;
    if (yaml.find("monotonic") == yaml.npos && yaml.find("mocha") == yaml.npos)
      BOOST_TEST(multiplications == cost.multiplications, yaml);
    else
      BOOST_TEST(multiplications <= cost.multiplications,
                 yaml);  // positions with weight 0 are not read
    BOOST_TEST(after.energies - before.energies == cost.energies, yaml);
  };
  for (const auto& [kind, rest] :
       {std::pair("encoder", ", attention: {type: global, score: {type: additive, units: 9}}"),
        {"attention", ""},
        {"decoder", ", attention: {type: global, score: {type: additive, units: 9}}"}})
    for (const PluginEntry* entry : Registry::instance().entries(kind)) {
      if (entry->name == "image_grid" || entry->name == "built_in") continue;
      const bool whole = kind == std::string("decoder") &&
                         (entry->name == "transformer" || entry->name == "convolutional");
      check(fmt::format("model: {{embedding: 16, {}: {}{}",
                        kind,
                        entry->name,
                        whole ? ", attention: built_in" : rest));
    }
}

BOOST_AUTO_TEST_SUITE_END()
