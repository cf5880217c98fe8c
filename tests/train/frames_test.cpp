// Sources of frames: training with a file, records, any number of threads, and errors.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/files.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/synthetic.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/seq/cost.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/stored_results.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

namespace softalign {
namespace {

// Tones: each target symbol is two frames of three numbers, which depend on the symbol, with noise.
class Tones final : public Task {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  explicit Tones(const Options&) {}

  DataOutline outline() const override {
    const auto split = [](Index examples) {
      return DataOutline::SplitOutline{.examples = examples,
                                       .source = DataOutline::Lengths::even(4, 10),
                                       .target = DataOutline::Lengths::even(2, 5)};
    };
    return {.target_symbols = kSpecials + 4,
            .frames = kFormat,
            .one_vocabulary = false,
            .train = split(96),
            .dev = split(24),
            .test = split(24)};
  }

  Dataset load(std::uint64_t, const Progress&) const override {
    Dataset data;
    data.target = symbol_vocabulary(symbol_names(4));
    data.has_links = true;
    for (auto [split, name, examples] :
         {std::tuple(&data.train, "train", 96), {&data.dev, "dev", 24}, {&data.test, "test", 24}}) {
      split->examples = Examples(kFormat);
      fill_split(*split, name, 1, examples, [&](const RandomStream& stream, std::uint64_t i) {
        append(*split, *data.target, stream, i);
      });
    }
    return data;
  }

 private:
  static constexpr FrameFormat kFormat{.size = 3};

  static void append(Split& split,
                     const Vocabulary& target,
                     const RandomStream& stream,
                     std::uint64_t i) {
    const Index length = draw_length({2, 5}, stream, 0, i);
    std::vector<Token> tokens;
    std::vector<float> frames;
    std::vector<Link> links;
    for (Index t = 0; t < length; ++t) {
      const auto tone = static_cast<Index>(stream.below(4, 10 + static_cast<std::uint64_t>(t), i));
      tokens.push_back(kSpecials + static_cast<Token>(tone));
      for (Index k = 0; k < 6; ++k)
        frames.push_back(static_cast<float>(std::cos(static_cast<double>(tone * 2 + k % 3))) +
                         0.01F * static_cast<float>(k));
      links.push_back({2 * t, t, true});
      links.push_back({2 * t + 1, t, true});
    }
    split.examples.append(
        {.target = tokens, .links = links, .target_text = target.join(tokens), .frames = frames});
  }
};
SOFTALIGN_TASK("tones_for_test", Tones, "frames that are sung");

}  // namespace
}  // namespace softalign

using namespace softalign;
using namespace softalign::test;

namespace {

ResolvedSpec<Spec> spec_of(const std::string& more = "",
                           const std::string& encoder = "type: gru",
                           const std::string& attention = "score: {type: additive, units: 8}") {
  return parse_spec<Spec>(
      "task: tones_for_test\n"
      "model: {embedding: 8, encoder: {units: 8, " +
          encoder + "}, attention: {" + attention +
          "}, decoder: {units: 8}}\n"
          "train: {epochs: 6, batch: {sentences: 16}, optimizer: {learning_rate: 0.01}}\n" +
          more,
      "tones.yaml");
}

ExperimentOutcome run(const fs::path& results, int threads, const ResolvedSpec<Spec>& spec) {
  Observer observer;
  return run_experiment(spec, {.results = results, .threads = threads}, observer);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frames)

BOOST_AUTO_TEST_CASE(a_task_of_frames_is_learnt_and_threads_change_no_bit) {
  const Scratch folder;
  const ExperimentOutcome one = run(folder / "one", 1, spec_of()),
                          two = run(folder / "two", 2, spec_of());
  const Record record(one.folder), again(two.folder);
  const SeriesColumns loss = record.series("train", {"loss"});
  BOOST_TEST(loss.columns.at("loss").back() < 0.8 * loss.columns.at("loss").front());
  BOOST_TEST((loss.columns == again.series("train", {"loss"}).columns));
  BOOST_TEST(one.test.at("all", "loss") == two.test.at("all", "loss"));
  BOOST_TEST(!std::isnan(one.test.at("all", "pointing_accuracy")));
  BOOST_TEST(!record.has("data/source_vocabulary"));
  BOOST_TEST((record.attribute<Index>("data", "frame_size") == 3));
  const StoredParameter projection = record.parameters().at("source.projection.W");
  BOOST_TEST((projection.shape == std::vector<Index>{3, 8}));
  record.alignments().each_sentence("cross", [](Index, const std::vector<Alignment>& all) {
    const auto frames = std::ssize(all.back().source);
    BOOST_TEST(frames % 2 == 0);  // no </s>
    BOOST_TEST(all.back().source.back() == fmt::format("#{}", frames - 1));
  });
}

// With two frames per annotation, links, the search's length limit and the record refer to annotations.
BOOST_AUTO_TEST_CASE(a_pyramid_halves_the_frames) {
  const Scratch folder;
  const auto spec =
      spec_of("evaluate: {search: {ratio_of: annotations, max_ratio: 1, max_extra: 0}}\n",
              "type: pyramidal_lstm, layers: 2",
              "type: location_aware, filters: 2, width: 5");
  const ExperimentOutcome one = run(folder / "one", 1, spec), two = run(folder / "two", 3, spec);
  const Record record(one.folder);
  BOOST_TEST((record.series("train", {"loss"}).columns ==
              Record(two.folder).series("train", {"loss"}).columns));
  BOOST_TEST(one.test.at("all", "loss") == two.test.at("all", "loss"));
  BOOST_TEST(!std::isnan(one.test.at("all", "pointing_accuracy")));
  for (const char* module : {"cross", "cross_search"})
    record.alignments().each_sentence(module, [&](Index, const std::vector<Alignment>& all) {
      const Alignment& last = all.back();  // of 2 to 5 tones, and </s>
      BOOST_TEST((last.source.size() >= 2 && last.source.size() <= 5));
      if (module == std::string("cross"))
        BOOST_TEST(last.source.size() + 1 == last.target.size());
      else
        BOOST_TEST(last.target.size() <= last.source.size() + 1);
    });
}

BOOST_AUTO_TEST_CASE(what_needs_symbols_is_refused) {
  const auto fault = [](const std::string& more) {
    return places_of(refusal([&] { check_spec(spec_of(more)); }));
  };
  BOOST_TEST(fault("") == "accepted");
  BOOST_TEST(fault("evaluate: {baselines: [ibm_model1]}") == "4:23");
  BOOST_TEST(fault("evaluate: {length_unit: words}") != "accepted");
  const auto other = parse_spec<Spec>(
      "task: {type: reverse}\nmodel: {encoder: {type: image_grid}}\n", "words.yaml");
  BOOST_TEST(places_of(refusal([&] { check_spec(other); })) == "2:18");
}

BOOST_AUTO_TEST_CASE(made_sentences_have_a_frame_where_lengths_are_not_known) {
  BOOST_TEST(equal_sentences(1, 1, 1, {.size = 3}).examples[0].frames.size() == 3u);
  BOOST_TEST(equal_sentences(1, 1, 1, {.size = 3, .height = 4}).examples[0].frames.size() == 12u);
}

BOOST_AUTO_TEST_CASE(a_line_of_numbers_is_frames) {
  const FrameFormat format{.size = 2};
  const std::vector<float> frames = {0.5F, -1, 3e-5F, 16};
  BOOST_TEST(frames_of_line(line_of_frames(frames), format) == frames);
  BOOST_TEST(frames_of_line("", format).empty());
  for (const char* bad : {"1", "1 2 3", "1 x", "1 2x", "nan 1", "inf 0"})
    BOOST_CHECK_THROW(frames_of_line(bad, format), DataError);
}

BOOST_AUTO_TEST_SUITE_END()
