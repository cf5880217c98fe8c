// Faults of the spec itself are all reported with their positions, before data is read.
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "framework/train/load_spec.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

// Returns the faults of a spec whose files do not exist.
std::string fault(const std::string& yaml) {
  return refusal([&] { check_spec(parse_spec<Spec>(yaml, "s.yaml")); });
}

// Returns a spec of parallel text with more options of the task and the spec.
std::string text(const std::string& files, const std::string& more) {
  return "task: {type: parallel_text, train: {source: a, target: b}, dev: {source: c}, test: "
         "{source: e, target: f}" +
         files + "}\n" + more;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(refusals)

BOOST_AUTO_TEST_CASE(what_data_will_lack_is_known_from_its_options) {
  const std::string tied = "model: {tied_embeddings: all, decoder: {readout_units: 256}}";
  for (const auto& [more, place] :
       std::map<std::string, std::string>{{"train: {epochs: 1}", "accepted"},
                                          {"train: {early_stopping: {}}", "2:25"},
                                          {"train: {average: {type: best}}", "2:18"},
                                          {"train: {average: {type: last}}", "accepted"},
                                          {"train: {schedule: plateau}", "2:19"},
                                          {"train: {guided_alignment: {}}", "2:27"},
                                          {"model: {attention: true_alignment}", "2:20"},
                                          {tied, "2:26"}})
    BOOST_TEST(places_of(fault(text("", more))) == place, more);
  BOOST_TEST(fault(text(", vocabulary: {shared: true}", tied)) == "accepted");
}

BOOST_AUTO_TEST_CASE(a_fault_stands_at_its_option) {
  const auto place = [](const std::string& options) {
    return places_of(fault("task: reverse\nmodel:\n" + options));
  };
  const std::string none = "  attention: {type: none, context: nothing}\n  decoder:\n    ";
  BOOST_TEST(
      place("  encoder: embedding_mean\n  decoder:\n    units: 8\n    initial_state: last") ==
      "6:20");
  BOOST_TEST(place(none + "units: 8\n    initial_state: zero") == "6:20");
  BOOST_TEST(place(none + "context_gate: true\n    initial_state: tanh") == "5:19");
  BOOST_TEST(place(none + "type: luong_gru\n    input_feeding: true") == "6:20");
  for (const auto& [model, key] : std::map<std::string, std::string>{
           {"{attention: {type: none, context: nothing}, decoder: {initial_state: zero}}",
            "decoder.initial_state"},
           {"{attention: {type: none, context: nothing}, decoder: {context_gate: true}}",
            "decoder.context_gate"},
           {"{attention: {type: none, context: nothing}, decoder: luong_gru}",
            "decoder.input_feeding"},
           {"{attention: {type: none, context: nothing}, decoder: conditional_gru}", "decoder"},
           {"{attention: built_in}", "attention"},
           {"{attention: {type: multi_head, heads: 7}}", "attention.heads"},
           {"{attention: {type: global, score: dot}}", "attention.score"},
           {"{attention: {type: mocha, chunk_score: location}}", "attention.chunk_score"},
           {"{encoder: {type: stack, second: image_grid}}", "encoder"},
           {"{output: pointer, tied_embeddings: target}", "tied_embeddings"},
           {"{output: pointer_generator, decoder: convolutional, attention: built_in}",
            "output.gate"}})
    BOOST_TEST(contains(fault("task: reverse\nmodel: " + model), ": model." + key + ": "), model);
  BOOST_TEST(place("  decoder: luong_gru\n  attention: {type: none, context: nothing}") == "3:12");
  for (const char* attention : {"none", "uniform", "true_alignment"})
    for (const char* option : {"doubly_stochastic: 1", "coverage: 1", "guided_alignment: {}"})
      BOOST_TEST(
          contains(fault(fmt::format(
                       "task: reverse\nmodel: {{attention: {}}}\ntrain:\n  {}", attention, option)),
                   "s.yaml:4:"));
}

// A watched metric that is never measured would otherwise fail after an epoch.
BOOST_AUTO_TEST_CASE(a_metric_that_is_never_measured_is_not_watched) {
  const std::string no_search = "task: reverse\nevaluate: {search_dev: false}\n";
  const auto watched = [&](const std::string& train) {
    return places_of(fault(no_search + "train: {" + train + ", metric: dev/bleu}}"));
  };
  BOOST_TEST(watched("schedule: {type: plateau") == "3:43");
  BOOST_TEST(watched("average: {type: best") == "3:39");
  BOOST_TEST(watched("average: {type: last") == "accepted");
  BOOST_TEST(watched("early_stopping: {patience: 3") == "3:47");
  BOOST_TEST(places_of(fault("task: reverse\nmodel: {attention: none}\n"
                             "train: {early_stopping: {metric: dev/attention_entropy}}")) ==
             "3:34");
  // Pointing needs links of the dev sentences.
  const auto pointing = [](const std::string& alignment) {
    return fault(
        "task: {type: parallel_text, train: {source: a, target: b}, dev: {source: c, target: d" +
        alignment +
        "}, test: {source: e, target: f}}\ntrain: {early_stopping: {metric: "
        "dev/pointing_accuracy}}\n");
  };
  BOOST_TEST(places_of(pointing("")) == "2:34");
  BOOST_TEST(pointing(", alignment: g") == "accepted");
  const auto compared = [&](const std::string& metric) {
    return refusal([&] { check_spec(parse_spec<Spec>(no_search, "s.yaml"), metric); });
  };
  BOOST_TEST(compared("dev/loss") == "accepted");
  BOOST_TEST(compared("dev/bleu") != "accepted");
}

BOOST_AUTO_TEST_CASE(all_faults_are_told_at_once) {
  const std::string faults = fault(
      "name: a/b\ntask: reverse\ntrain: {epochs: 9, doubly_stochastic: 1, early_stopping: {metric: "
      "loss}}\nmodel: {attention: none}\nevaluate: {lengths: [5, 4], search: {type: beam, "
      "coverage_penalty: 1}}\n");
  const std::vector<std::string> places = words_of(places_of(faults));
  BOOST_TEST(std::set<std::string>(places.begin(), places.end()) ==
                 (std::set<std::string>{"1:7", "5:21", "3:39", "3:67", "5:68"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_has_no_effect_is_noted) {
  const auto places = [](const std::string& yaml) {
    return places_of(fmt::format("{}", fmt::join(parse_spec<Spec>(yaml, "s.yaml").notes, "\n")));
  };
  const std::string task = "task: reverse\n";
  BOOST_TEST(places(task + "train: {average: {type: last, epochs: 2, decay: 0.5}}") == "2:49");
  BOOST_TEST(places(task + "train: {average: {type: last, decay: 0.999}}") == "");  // the default
  BOOST_TEST(places(task + "train: {clip_norm: 0, clip_scope: all}") == "2:35");
  BOOST_TEST(
      places(task + "model: {attention: {score: {type: concat, identity: true, units: 7}}}") ==
      "2:66");
  BOOST_TEST(
      places("task: {type: image_captions, digits: d, layout: scene, length: {test: [1, 2]}, "
             "side: 30}") == "1:71");
}

BOOST_AUTO_TEST_SUITE_END()
