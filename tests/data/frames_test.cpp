// Task frames: examples from arrays and targets, the statistics that normalise them, and each refusal.
#include <cmath>
#include <limits>

#include "framework/data/frame_file.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "shared.hpp"

using namespace softalign;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The bytes of an HDF5 file with frames of `size` numbers.
std::string file_of(std::vector<float> frames, std::vector<std::int64_t> lengths, Index size = 2) {
  Hdf5Writer file;
  const Index rows = std::ssize(frames) / size, arrays = std::ssize(lengths);
  file.dataset("frames", {{"time", rows}, {"number", size}}, std::move(frames));
  file.dataset("lengths", {{"array", arrays}}, std::move(lengths));
  return file.image();
}

// Frame files of three training pairs, one dev pair and one test pair.
struct Recordings {
  Scratch scratch;
  std::map<std::string, std::string> values{{"frame_size", "2"}, {"vocabulary.type", "characters"}};

  Recordings() {
    set("train", file_of({1, 5, 2, 5, 3, 5, 6, 5}, {1, 2, 1}), "ab\nb\na c\n");
    set("dev", file_of({1, 2}, {1}), "b\n");
    set("test", file_of({4, 5, 8, 6}, {2}), "cab\n");
  }
  void set(const std::string& split, const std::string& frames, const std::string& targets) {
    values[split + ".source"] = scratch.write(split + ".h5", frames);
    values[split + ".target"] = scratch.write(split + ".txt", targets);
  }
  void set_train(std::vector<float> frames, std::vector<std::int64_t> lengths, Index size = 2) {
    set("train", file_of(std::move(frames), std::move(lengths), size), "ab\nb\na c\n");
  }

  std::unique_ptr<Task> task() const { return task_with("frames", values); }
  Dataset load() const { return task()->load(1, {}); }
  // Returns the message with which loading fails, after checking that `validate` gives the same one.
  std::string refusal() const {
    const std::string text = message_of<DataError>([&] { load(); });
    BOOST_TEST(message_of<DataError>([&] { task()->check_files(); }) == text);
    return text;
  }
};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frames_task)

BOOST_AUTO_TEST_CASE(arrays_and_lines_are_pairs) {
  Recordings recordings;
  recordings.values["normalise"] = "none";
  const Dataset data = recordings.load();
  BOOST_TEST((data.frames() == FrameFormat{.size = 2}));
  BOOST_TEST(!data.source);
  BOOST_TEST(data.target->size() == kSpecials + 4);  // a b c and the space
  BOOST_TEST(!data.statistics);
  BOOST_REQUIRE(data.train.examples.size() == 3u);
  const Example second = data.train.examples[1];
  BOOST_TEST(vector_of(second.frames) == (std::vector<float>{2, 5, 3, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(second.target_text == "b");
  BOOST_TEST(second.line == 2);
  BOOST_TEST(second.source_text.starts_with("2 frames ("));
  BOOST_TEST(second.source_text !=
             data.test.examples[0].source_text);  // equally long, but another array
  BOOST_TEST((recordings.task()->outline().frames == data.frames()));
}

BOOST_AUTO_TEST_CASE(the_training_frames_normalise_all) {
  Recordings recordings;
  const Dataset data = recordings.load();
  const double deviation = std::sqrt(14.0 / 4);  // of 1 2 3 6 around 3
  BOOST_TEST(data.statistics.mean == (std::vector<double>{3, 5}), boost::test_tools::per_element());
  BOOST_TEST(data.statistics.deviation == (std::vector<double>{deviation, 1}),
             boost::test_tools::per_element());
  const auto scaled = [&](double x) { return static_cast<float>((x - 3) / deviation); };
  const std::vector<float> expected = {scaled(4), 0, scaled(8), 1};
  BOOST_TEST(vector_of(data.test.examples[0].frames) == expected, boost::test_tools::per_element());
  // A dropped pair does not contribute to the statistics.
  recordings.values["max_length"] = "1";
  const Dataset shorter = recordings.load();
  BOOST_TEST(shorter.train.counts.dropped_too_long == 1);
  BOOST_TEST(shorter.statistics.mean == (std::vector<double>{3.5, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(shorter.test.examples.size() == 1u);  // test pairs may have any length
  recordings.values["normalise"] = "mean";
  BOOST_TEST((recordings.load().statistics.deviation == std::vector<double>{1, 1}));
}

BOOST_AUTO_TEST_CASE(a_trained_model_measures_with_its_own_statistics) {
  const Recordings recordings;
  Vocabularies trained{nullptr, recordings.load().target, {{4, 0}, {2, 1}}};
  const Dataset data = recordings.task()->load_to_measure(1, "test", trained, {});
  BOOST_TEST(vector_of(data.test.examples[0].frames) == (std::vector<float>{0, 5, 2, 6}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_cache_has_the_same_numbers) {
  const Recordings recordings;
  const Dataset memory = recordings.load();
  const Scratch cache;
  setenv("SOFTALIGN_CACHE", cache.path().c_str(), 1);
  for (int time = 0; time < 2; ++time) {
    const Dataset cached = recordings.load();
    BOOST_TEST(cached.notes.empty());
    BOOST_TEST(!cached.train.examples.held());
    BOOST_TEST((cached.statistics == memory.statistics));
    for (std::size_t i = 0; i < memory.train.examples.size(); ++i)
      BOOST_TEST(vector_of(cached.train.examples[i].frames) ==
                 vector_of(memory.train.examples[i].frames));
  }
  setenv("SOFTALIGN_CACHE", "", 1);
}

BOOST_AUTO_TEST_CASE(bad_arrays_are_refused_by_index) {
  Recordings r;
  const auto refuses = [&](const std::string& part) {
    const std::string text = r.refusal();
    BOOST_TEST(says(text, "train.h5"));
    BOOST_TEST(says(text, part), text);
  };
  r.set_train({1, 5, 2, 5, kNan, 5, 6, 5}, {1, 2, 1});
  refuses("array 1: number 0 of frame 1 (from 0) is nan");
  r.set_train({1, 5, 2, 5, 3, 5, 6, -INFINITY}, {1, 2, 1});
  refuses("array 2: number 1 of frame 0 (from 0) is -inf");
  r.set_train({1, 5, 2, 5, 3, 5, 6, 5}, {1, 0, 3});
  refuses("array 1 is empty");
  r.set_train({1, 5, 2, 5, 3, 5, 6, 5}, {1, 2, 2});
  refuses("array 2 has length 2, but 'frames' has 1 frame after");
  r.set_train({1, 5, 2, 5, 3, 5, 6, 5}, {1, -2, 5});
  refuses("array 1 has length -2");
  r.set_train({1, 5, 2, 5, 3, 5, 6, 5}, {1, 1, 1});
  refuses("'frames' has 4 frames, but the lengths add up to 3");
  r.set_train({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 1}, 3);
  refuses("frames of 3 numbers, but task.frame_size is 2");
  r.set_train({1, 5, 2, 5, 3, 5}, {1, 2});
  refuses("2 arrays, but");
  r.set_train({1, 5, 2, 5, 3, 5, 6, 5}, {1, 1, 1, 1});
  refuses("4 arrays, but");
  r.values["train.source"] = r.scratch.write("train.h5", "no HDF5");
  refuses("not an HDF5 file");
  Hdf5Writer file;
  file.dataset("frames", {{"time", 2}, {"number", 2}}, std::vector<float>{1, 2, 3, 4});
  r.set("train", file.image(), "a\n");
  refuses("no dataset 'lengths'");
  file.dataset("lengths", {{"array", 1}}, std::vector<double>{2});
  r.set("train", file.image(), "a\n");
  refuses("'lengths' does not have whole numbers");
  Hdf5Writer other;
  other.dataset("frames", {{"time", 2}, {"number", 2}}, std::vector<std::int32_t>{1, 2, 3, 4});
  other.dataset("lengths", {{"array", 1}}, std::vector<std::int64_t>{2});
  r.set("train", other.image(), "a\n");
  refuses("'frames' does not have floating-point numbers");
  Hdf5Writer flat;
  flat.dataset("frames", {{"time", 2}}, std::vector<float>{1, 2});
  flat.dataset("lengths", {{"array", 1}}, std::vector<std::int64_t>{2});
  r.set("train", flat.image(), "a\n");
  refuses("'frames' has 1 axis, not 2");
}

BOOST_AUTO_TEST_CASE(pairs_that_cannot_be_used) {
  Recordings recordings;
  recordings.set("train", file_of({1, 5, 2, 5, 3, 5, 6, 5}, {1, 2, 1}), "ab\n \nabc\n");
  recordings.values["max_target_length"] = "2";
  const Dataset data = recordings.load();
  BOOST_TEST(data.train.counts.read == 3);
  BOOST_TEST(data.train.counts.kept == 1);
  BOOST_TEST(data.train.counts.dropped_empty == 1);
  BOOST_TEST(data.train.counts.dropped_too_long == 1);
  recordings.values["max_target_length"] = "1";
  BOOST_TEST(
      says(message_of<DataError>([&] { recordings.load(); }), "none of its 3 arrays can be used"));
}

BOOST_AUTO_TEST_CASE(dev_and_test_need_no_targets) {
  Recordings recordings;
  recordings.values.erase("test.target");
  const Dataset data = recordings.load();
  BOOST_TEST(data.test.examples.size() == 1u);
  BOOST_TEST(data.test.examples[0].target.empty());
  BOOST_TEST(!recordings.task()->outline().test.references);
  recordings.values.erase("train.target");
  BOOST_CHECK_THROW(recordings.task(), SpecError);
}

// Arrays are read in blocks, and all of them equal the written ones.
BOOST_AUTO_TEST_CASE(arrays_of_large_files) {
  const Scratch scratch;
  std::vector<float> frames;
  std::vector<std::int64_t> lengths;
  constexpr Index kSize = 500;
  for (Index k = 0; k < 40; ++k) {
    lengths.push_back(k == 7 ? 2500 : 1 + 37 * k % 150);
    frames.resize(frames.size() + usize(lengths.back() * kSize), static_cast<float>(k));
  }
  FrameFile file(scratch.write("large.h5", file_of(frames, lengths, kSize)), kSize);
  BOOST_REQUIRE(file.size() == 40);
  for (const Index k : {0, 1, 7, 6, 8, 39, 12, 13, 39}) {
    const std::vector<float> array = file.read(k);
    BOOST_TEST(std::ssize(array) == lengths[usize(k)] * kSize);
    BOOST_TEST((array == std::vector<float>(array.size(), static_cast<float>(k))));
  }
}

BOOST_AUTO_TEST_SUITE_END()
