// The dataset cache: data are tokenised once and are the same with and without it, whatever happens to its files.
#include "framework/data/cache.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <functional>
#include <numeric>
#include <thread>

#include "corpus.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "tests/child.hpp"
#include "tests/data/pieces.hpp"

using namespace softalign;
namespace {

// Sets the cache folder for the lifetime of the object.
struct CacheAt {
  explicit CacheAt(const fs::path& folder) { setenv("SOFTALIGN_CACHE", folder.c_str(), 1); }
  ~CacheAt() { setenv("SOFTALIGN_CACHE", "", 1); }
};

struct Setting {
  Scratch scratch{fs::temp_directory_path()};  // mapped files in tmpfs would count as resident
  fs::path folder = scratch / "cache";
  CacheAt cache{folder};
};

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

fs::path only_file(const Setting& setting) {
  const auto files = files_in(setting.folder / "datasets");
  BOOST_REQUIRE(files.size() == 1u);
  return files[0];
}

// The complete contents of a dataset, as text.
std::string text_of(const Dataset& data) {
  std::string text = data.source->serialize() + data.target->serialize();
  for (const Split* split : {&data.train, &data.dev, &data.test}) {
    const SplitCounts& c = split->counts;
    text += fmt::format("{} {} {} {} {} {}\n",
                        split->name,
                        c.read,
                        c.kept,
                        c.dropped_too_long,
                        c.dropped_empty,
                        c.truncated);
    for (const Example example : split->examples) {
      for (const Token token : example.source) text += fmt::format("{} ", token);
      for (const Token token : example.target) text += fmt::format("{} ", -token);
      for (const Link& link : example.links)
        text += fmt::format("{}{}{} ", link.source, link.sure ? '-' : 'p', link.target);
      text += fmt::format("[{}] [{}] {}\n", example.source_text, example.target_text, example.line);
    }
    for (const TextFacts& file : split->texts) {
      text += fmt::format("{} {}", file.option, fmt::join(file.examples, " "));
      for (const Index number : {file.symbols,
                                 file.unknown,
                                 file.types,
                                 file.unknown_types,
                                 file.in_lower_case,
                                 file.with_points,
                                 file.composed,
                                 file.decomposed,
                                 file.marks,
                                 file.first_decomposed,
                                 file.first_mark})
        text += fmt::format(" {}", number);
      text += "\n";
    }
  }
  return text + (data.has_links ? "links" : "");
}

std::string batches_of(const Dataset& data) {
  BatchOptions options;
  options.sentences = 3;
  std::string text;
  for (const auto& plan :
       {epoch_batches(data.train, options, 1, 2), evaluation_batches(data.train, 3)})
    for (const auto examples : plan) {
      const Batch batch = make_batch(data.train, examples);
      for (const auto* tokens : {&batch.source, &batch.target_in, &batch.target_out})
        for (const Token token : *tokens) text += fmt::format("{} ", token);
      for (const Index example : batch.example) text += fmt::format("#{} ", example);
    }
  return text;
}

// Returns a dataset of `pairs` pairs made by hand, or its cached copy; `made` counts how often it was made.
struct Maker {
  std::size_t pairs = 3;
  int made = 0;
  std::function<void()> meanwhile = [] {};

  Dataset operator()(const std::string& identity = "by hand") {
    return cached_dataset(
        identity,
        [&](Dataset& data, const Emit& emit) {
          ++made;
          data.source = data.target = symbol_vocabulary({"a", "b"});
          data.train.name = "train";
          data.dev.name = "dev";
          data.test.name = "test";
          std::vector<Token> tokens(200);
          std::iota(tokens.begin(), tokens.end(), 0);
          const std::vector<Link> links{{1, 2, false}, {3, 4, true}};
          for (std::size_t i = 0; i < pairs; ++i) {
            emit(data.train,
                 {.source = std::span(tokens).first(i % 200),
                  .target = std::span(tokens).last((7 * i) % 200),
                  .links = std::span(links).first(i % 3),
                  .source_text = "ab",
                  .target_text = "c",
                  .line = static_cast<Index>(2 * i + 1)});
            if (i % 2 == 0) emit(data.test, {.source = std::span(tokens).first(1)});
          }
          data.train.counts.kept = 17;
          data.train.texts = {{"train.source", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
          data.train.texts.front().examples = {"c", "d"};
          meanwhile();
        },
        {});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(dataset_cache)

BOOST_AUTO_TEST_CASE(the_same_data_and_batches_with_and_without) {
  for (const std::string type : {"words", "characters"}) {
    Corpus corpus;
    corpus.values["vocabulary.type"] = type;
    corpus.values["max_length"] = type == "words" ? "5" : "20";
    corpus.values["too_long"] = "truncate";
    corpus.set("test", "alignment", "0-0 1p2 2-1 5-5\n");
    const Dataset without = corpus.load();
    const Setting setting;
    const Dataset first = corpus.load(), second = corpus.load();
    only_file(setting);
    BOOST_TEST(text_of(first) == text_of(without));
    BOOST_TEST(text_of(second) == text_of(without));
    BOOST_TEST(batches_of(second) == batches_of(without));
    BOOST_TEST(second.notes.empty());
  }
}

BOOST_AUTO_TEST_CASE(pieces_are_trained_once, *boost::unit_test::precondition(has_pieces)) {
  Corpus corpus;
  std::string text;
  for (int k = 0; k < 60; ++k)
    text += fmt::format("reader number{} reads {} books\n", k, k * 7 % 10);
  for (const std::string side : {"source", "target"}) corpus.set("train", side, text);
  corpus.values["vocabulary.type"] = "sentencepiece";
  corpus.values["vocabulary.size"] = "40";
  corpus.values["max_length"] = "50";
  const Dataset without = corpus.load();
  const Setting setting;
  std::vector<std::string> steps;
  const auto tell = [&](std::string_view what, Index, Index) { steps.emplace_back(what); };
  BOOST_TEST(text_of(corpus.load(tell)) == text_of(without));
  BOOST_TEST(std::count(steps.begin(), steps.end(), "building the vocabularies") == 1);
  steps.clear();
  BOOST_TEST(text_of(corpus.load(tell)) == text_of(without));
  BOOST_TEST(std::count(steps.begin(), steps.end(), "building the vocabularies") == 0);
}

BOOST_AUTO_TEST_CASE(made_once_for_each_identity) {
  const Setting setting;
  Maker maker;
  const std::string text = text_of(maker());
  BOOST_TEST(text_of(maker()) == text);
  BOOST_TEST(maker.made == 1);
  maker("another");
  BOOST_TEST(maker.made == 2);
  BOOST_TEST(files_in(setting.folder / "datasets").size() == 2u);
}

BOOST_AUTO_TEST_CASE(more_than_a_buffer) {
  Maker maker{.pairs = 40000};  // also more rows than a buffer holds
  const std::string without = text_of(maker());
  const Setting setting;
  BOOST_TEST((text_of(maker()) == without));
  BOOST_TEST((text_of(maker()) == without));
  BOOST_TEST(maker.made == 2);
  BOOST_TEST(fs::file_size(only_file(setting)) > 10u << 20);
}

BOOST_AUTO_TEST_CASE(whatever_the_tokens_depend_on_is_in_the_key) {
  const Setting setting;
  Corpus corpus;
  std::size_t files = 0;
  const auto other = [&](const std::string& what) {
    BOOST_TEST_CONTEXT(what) {
      corpus.load();
      BOOST_TEST(files_in(setting.folder / "datasets").size() == ++files);
      corpus.load();
      BOOST_TEST(files_in(setting.folder / "datasets").size() == files);
    }
  };
  other("as it is");
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"max_length", "6"},
                                                        {"max_length_test", "30"},
                                                        {"too_long", "truncate"},
                                                        {"vocabulary.size", "9"},
                                                        {"vocabulary.min_count", "2"},
                                                        {"vocabulary.type", "characters"}}) {
    corpus.values[option] = value;
    other(option);
  }
  corpus.set("test", "alignment", "0-0\n");
  other("links");
  corpus.set("test", "references", "el gato\n");
  other("references");
  BOOST_TEST((corpus.load().test.references == std::vector<std::vector<std::string>>{{"el gato"}}));
  corpus.set("dev", "source", "a red cat\n");
  other("a file of the same size");
  fs::rename(corpus.path("dev.source"), corpus.path("moved"));
  corpus.values["dev.source"] = corpus.path("moved");
  corpus.load();
  BOOST_TEST(files_in(setting.folder / "datasets").size() == files);  // keyed by the bytes
}

// When this fails, the same files give other examples than before: increase kRules in parallel_text.cpp,
// or users continue with the old examples in their caches.
BOOST_AUTO_TEST_CASE(the_rules_by_which_examples_are_made) {
  std::string text;
  for (const std::string type : {"words", "characters"}) {
    Corpus corpus;
    corpus.set(
        "train", "source", "\xEF\xBB\xBFthe house  is\tred \r\n\nthe <s> house\nñ a ñ b c d\n");
    corpus.set("train", "target", "la casa es roja\nx\nla casa\nh i j\n");
    corpus.set("train", "alignment", "0-0 3p3\n\n1-1 1-1\n0-2\n");
    corpus.values["vocabulary.type"] = type;
    corpus.values["vocabulary.size"] = "9";
    corpus.values["max_length"] = type == "words" ? "5" : "20";
    for (const std::string too_long : {"drop", "truncate"}) {
      corpus.values["too_long"] = too_long;
      text += text_of(corpus.load());
    }
  }
  BOOST_TEST(sha256_hex(text) ==
             "2b91ff60308b8edba97704c233de64989b3f3e73192e11d054ef50abb1e4bef1");
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_made_again) {
  const Setting setting;
  Maker maker;
  const std::string good = text_of(maker());
  const fs::path file = only_file(setting);
  const std::string bytes = bytes_of(file);
  std::vector<std::string> damaged = {"", "x", bytes + "x", bytes + bytes};
  for (std::size_t k = 0; k < bytes.size(); k += 61) {
    damaged.push_back(bytes);
    damaged.back()[k] = static_cast<char>(damaged.back()[k] ^ 4);
    damaged.push_back(bytes.substr(0, k));
  }
  for (const std::string& wrong : damaged) {
    write_file(file, wrong);
    const int before = maker.made;
    const Dataset again = maker();
    BOOST_REQUIRE(maker.made == before + 1);
    BOOST_REQUIRE(text_of(again) == good);
    BOOST_REQUIRE(again.notes.size() == 1u);
    BOOST_REQUIRE(contains(again.notes[0], "was corrupt"));
    BOOST_REQUIRE(bytes_of(file) == bytes);
  }
}

BOOST_AUTO_TEST_CASE(the_file_of_another_identity_is_not_taken) {
  const Setting setting;
  Maker maker;
  maker("one");
  const fs::path one = only_file(setting);
  maker("two");
  const auto files = files_in(setting.folder / "datasets");
  fs::copy_file(one, files[0] == one ? files[1] : files[0], fs::copy_options::overwrite_existing);
  maker("two");
  BOOST_TEST(maker.made == 3);
}

BOOST_AUTO_TEST_CASE(of_processes_that_ask_at_once_one_makes_it) {
  const Setting setting;
  const std::string marks = (setting.scratch / "marks").string();
  Maker maker{.pairs = 5000};
  maker.meanwhile = [&] {
    std::ofstream(marks, std::ios::app) << "x" << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(begin_child([&] {
      const Dataset data = maker();
      return data.notes.empty() && data.train.examples.size() == 5000 ? 0 : 1;
    }));
  for (const pid_t child : children) BOOST_TEST(end_of(child) == 0);
  BOOST_TEST(bytes_of(marks) == "x");
  only_file(setting);
}

BOOST_AUTO_TEST_CASE(a_killed_process_leaves_nothing_that_harms) {
  const Setting setting;
  Maker maker;
  const std::string marks = (setting.scratch / "marks").string();
  maker.meanwhile = [&] {
    write_file(marks, "x");
    pause();
  };
  const pid_t child = begin_child([&] { return maker(), 0; });
  while (!fs::exists(marks)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGKILL);
  BOOST_TEST(end_of(child) == -SIGKILL);
  maker.meanwhile = [] {};
  BOOST_TEST(maker().notes.empty());
  BOOST_TEST(maker.made == 1);
  only_file(setting);
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_written) {
  Maker maker;
  const std::string without = text_of(maker());
  Setting setting;
  std::vector<fs::path> folders = {setting.scratch.write("file", "") / "cache"};
  if (geteuid() != 0) {  // root can write to any folder
    folders.push_back(setting.scratch / "closed");
    fs::create_directory(folders.back());
    fs::permissions(folders.back(), fs::perms::owner_read | fs::perms::owner_exec);
  }
  for (const fs::path& folder : folders) {
    const CacheAt cache(folder);
    maker.made = 0;
    const Dataset data = maker();
    BOOST_TEST(maker.made == 1);
    BOOST_TEST(text_of(data) == without);
    BOOST_REQUIRE(data.notes.size() == 1u);
    BOOST_TEST(contains(data.notes[0], folder.string()));
  }
}

BOOST_AUTO_TEST_CASE(a_full_disk) {
  const Setting setting;
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit most{100000, 100000};
    setrlimit(RLIMIT_FSIZE, &most);
    Maker maker{.pairs = 5000};
    const Dataset data = maker();
    return data.notes.size() == 1 && maker.made == 2 && data.train.examples.size() == 5000 ? 0 : 1;
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(files_in(setting.folder / "datasets").empty());
}

BOOST_AUTO_TEST_CASE(removed_while_it_is_used) {
  const Setting setting;
  Maker maker{.pairs = 5000};
  const Dataset data = maker(), again = maker();
  const std::string text = text_of(data);
  const Example example = again.train.examples[4999];
  fs::remove_all(setting.folder);
  again.train.examples.release();
  BOOST_TEST(example.source.size() == 4999 % 200u);
  BOOST_TEST(example.source.back() == Token(4999 % 200 - 1));
  BOOST_TEST((text_of(again) == text));
}

BOOST_AUTO_TEST_CASE(removed_while_it_is_made) {
  const Setting setting;
  Maker maker;
  maker.meanwhile = [&] { fs::remove_all(setting.folder); };
  const Dataset data = maker();
  BOOST_TEST(data.train.examples.size() == 3u);
  BOOST_TEST(data.notes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_fails_is_not_kept) {
  const Setting setting;
  Maker maker;
  maker.meanwhile = [] { throw DataError("x.en:7: no"); };
  BOOST_TEST(message_of<DataError>([&] { maker(); }) == "x.en:7: no");
  BOOST_TEST(files_in(setting.folder / "datasets").empty());
}

BOOST_AUTO_TEST_CASE(text_that_changes_while_it_is_read) {
  const Setting setting;
  Corpus corpus;
  const Progress change = [&](std::string_view what, Index, Index) {
    if (what == "building the vocabularies")
      corpus.set("train", "target", "la\ny\nla\nh\nel\nun\n");
  };
  BOOST_TEST(
      message_of<DataError>([&] { corpus.load(change); }).starts_with(corpus.path("train.target")));
  BOOST_TEST(files_in(setting.folder / "datasets").empty());
  BOOST_TEST(corpus.load().train.counts.kept > 0);
}

// Pages of the cache file are resident only while they are read.
BOOST_AUTO_TEST_CASE(reading_much_leaves_little_resident) {
  const auto resident = [] {  // MiB of mapped files
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("RssFile:")) return std::stoll(line.substr(8)) / 1024;
    return -1LL;
  };
  const Setting setting;
  Maker maker{.pairs = 40000};
  maker();
  const Dataset data = maker();
  BOOST_TEST(fs::file_size(only_file(setting)) > 30u << 20);
  const auto before = resident();
  BOOST_REQUIRE(before > 0);
  for (const auto examples : epoch_batches(data.train, {}, 1, 0)) make_batch(data.train, examples);
  BOOST_TEST(resident() < before + 8);
  for (const Example example : data.train.examples) BOOST_REQUIRE(example.source_text == "ab");
  BOOST_TEST(resident() > before + 20);  // so the measure works
}

BOOST_AUTO_TEST_SUITE_END()
