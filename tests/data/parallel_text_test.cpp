#include "corpus.hpp"
#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/data/text.hpp"
#include "tests/data/pieces.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(parallel_text)

BOOST_AUTO_TEST_CASE(words_end_to_end) {
  const Corpus corpus;
  const Dataset data = corpus.load();
  const SplitCounts& counts = data.train.counts;
  BOOST_TEST(counts.read == 6);
  BOOST_TEST(counts.kept == 4);
  BOOST_TEST(counts.dropped_empty == 1);
  BOOST_TEST(counts.dropped_too_long == 1);
  BOOST_TEST(counts.truncated == 0);
  BOOST_TEST(data.source->symbol(3) == "dog");   // 3 times, as "the", but bytewise first
  BOOST_TEST(data.source->id("g") == kUnknown);  // its sentence was dropped
  BOOST_TEST(data.target->id("x") == kUnknown);
  const Example test = data.test.examples[0];
  BOOST_TEST(test.source.size() == 6u);  // max_length is for training only
  BOOST_TEST(test.source_text == "the red cat is a dog");
  BOOST_TEST(data.source->join(vector_of(test.source)) == "the red <unk> is a dog");
  BOOST_TEST(test.links.empty());
  BOOST_TEST(!data.has_links);
}

BOOST_AUTO_TEST_CASE(a_test_set_may_have_no_references) {
  Corpus corpus;
  corpus.set("test", "source", "the red cat\n\na dog\n");
  corpus.values.erase("test.target");
  const Dataset data = corpus.load();
  BOOST_TEST(data.test.counts.kept == 2);
  BOOST_TEST(data.test.counts.dropped_empty == 1);
  for (const Example test : data.test.examples) {
    BOOST_TEST(test.target.empty());
    BOOST_TEST(test.target_text.empty());
    BOOST_TEST(!test.source.empty());
  }
  corpus.set("test", "source", "\n");
  BOOST_TEST(corpus.refusal() != "accepted");
}

BOOST_AUTO_TEST_CASE(examples_know_their_line) {
  const Corpus corpus;
  std::vector<Index> lines;
  const Dataset data = corpus.load();
  for (const Example example : data.train.examples) lines.push_back(example.line);
  BOOST_TEST(lines == (std::vector<Index>{1, 3, 5, 6}));
}

BOOST_AUTO_TEST_CASE(a_split_is_measured_with_the_vocabularies_of_the_training_text) {
  Corpus corpus;
  corpus.set("test", "source", "the dog\n\na red x\n");
  corpus.set("test", "target", "el perro\n\nun x rojo\n");
  const Dataset all = corpus.load();
  std::filesystem::remove(corpus.path("train.source"));
  std::filesystem::remove(corpus.path("dev.target"));
  const Dataset data = task_with("parallel_text", corpus.values)
                           ->load_to_measure(1, "test", {all.source, all.target}, {});
  BOOST_TEST(data.train.examples.empty());
  BOOST_TEST(data.test.counts.dropped_empty == 1);
  BOOST_REQUIRE(data.test.examples.size() == 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    BOOST_TEST(vector_of(data.test.examples[i].source) == vector_of(all.test.examples[i].source));
    BOOST_TEST(vector_of(data.test.examples[i].target) == vector_of(all.test.examples[i].target));
  }
}

BOOST_AUTO_TEST_CASE(truncated_pairs_are_kept_and_counted) {
  Corpus corpus;
  corpus.values["too_long"] = "truncate";
  corpus.values["max_length_test"] = "2";
  corpus.set("test", "alignment", "0-0 1-2 2-1 5-5\n");
  const Dataset data = corpus.load();
  BOOST_TEST(data.train.counts.truncated == 1);
  BOOST_TEST(data.train.counts.kept == 5);
  BOOST_TEST(data.train.examples[2].source_text == "a b c d e");
  BOOST_TEST(data.source->id("e") != kUnknown);
  BOOST_TEST(data.source->id("f") == kUnknown);
  const Example test = data.test.examples[0];
  BOOST_TEST(test.source_text == "the red");
  BOOST_TEST(test.target_text == "el gato");
  BOOST_TEST((vector_of(test.links) ==
              std::vector<Link>{{0, 0, true}}));  // the other links point beyond the cut
}

BOOST_AUTO_TEST_CASE(links_are_between_symbols) {
  Corpus corpus;
  corpus.set("test", "alignment", "1-2 2p1\n");
  const Dataset words = corpus.load();
  BOOST_TEST(words.has_links);
  BOOST_TEST(
      (vector_of(words.test.examples[0].links) == std::vector<Link>{{1, 2, true}, {2, 1, false}}));

  corpus.values["vocabulary.type"] = "characters";
  corpus.values["max_length"] = "20";
  const Dataset characters = corpus.load();
  BOOST_TEST(characters.train.counts.kept == 4 + 1);
  const Example test = characters.test.examples[0];
  BOOST_TEST(test.links.size() == 4u * 5u + 4u * 5u);  // "red " and "rojo ", "cat " and "gato "
  for (const Link& link : test.links) {
    const std::string symbol = characters.source->symbol(test.source[usize(link.source)]);
    if (link.sure) BOOST_TEST(contains(("red" + std::string(kSpaceMark)), symbol));
    BOOST_TEST(
        (link.sure ? link.target >= 8 && link.target < 13 : link.target >= 3 && link.target < 8));
  }
}

BOOST_AUTO_TEST_CASE(one_vocabulary_of_both_sides_or_two_sizes) {
  Corpus corpus;
  corpus.values["vocabulary.shared"] = "true";
  const Dataset shared = corpus.load();
  BOOST_TEST(shared.source->serialize() == shared.target->serialize());
  BOOST_TEST(shared.source->id("dog") != kUnknown);
  BOOST_TEST(shared.source->id("perro") != kUnknown);

  corpus.values.erase("vocabulary.shared");
  corpus.values["vocabulary.target_size"] = "5";
  const Dataset sizes = corpus.load();
  BOOST_TEST(sizes.target->size() == 5);
  BOOST_TEST(sizes.source->size() > 5);
}

BOOST_AUTO_TEST_CASE(rare_symbols_are_unknown) {
  Corpus corpus;
  corpus.values["vocabulary.min_count"] = "2";
  const Dataset data = corpus.load();  // "el" occurs once, "perro" three times
  BOOST_TEST(data.source->id("dog") != kUnknown);
  BOOST_TEST(data.source->id("house") != kUnknown);
  BOOST_TEST(data.source->id("is") != kUnknown);
  BOOST_TEST(data.target->id("perro") != kUnknown);
  BOOST_TEST(data.target->id("roja") != kUnknown);
  BOOST_TEST(data.target->id("el") == kUnknown);
  corpus.values["vocabulary.min_count"] = "1";
  BOOST_TEST(canonical_json(parse_spec<VocabularyOptions>("min_count: 1", "").spec) ==
             canonical_json(VocabularyOptions()));
  BOOST_TEST(corpus.load().target->id("el") != kUnknown);
  corpus.values["vocabulary.min_count"] = "100";
  BOOST_TEST(contains(corpus.refusal(), "min_count"));
  corpus.values["vocabulary.min_count"] = "3";
  corpus.values["vocabulary.type"] = "characters";
  corpus.values["max_length"] = "30";
  const Dataset characters = corpus.load();
  BOOST_TEST(characters.source->id("b") == kUnknown);
  BOOST_TEST(characters.source->id("o") != kUnknown);
}

BOOST_AUTO_TEST_CASE(further_references_are_read_with_their_lines) {
  Corpus corpus;
  corpus.set("test", "source", "the red cat is a dog\n\na dog\n");
  corpus.set("test", "target", "el gato rojo es un perro\nx\nun perro\n");
  corpus.set("test", "references", "un gato rojo\ny\n \t\n");
  const std::string one = corpus.values["test.references"];
  corpus.values["test.references"] = fmt::format("[{}, {}]", one, corpus.path("test.target"));
  using Texts = std::vector<std::vector<std::string>>;
  const Dataset data = corpus.load();
  BOOST_TEST((data.test.references ==
              Texts{{"un gato rojo", "el gato rojo es un perro"}, {"", "un perro"}}));
  BOOST_TEST(data.dev.references.empty());
  const Dataset measured = task_with("parallel_text", corpus.values)
                               ->load_to_measure(1, "test", {data.source, data.target}, {});
  BOOST_TEST((measured.test.references == data.test.references));

  corpus.values["too_long"] = "truncate";
  corpus.values["max_length_test"] = "2";
  BOOST_TEST((corpus.load().test.references == Texts{{"un gato", "el gato"}, {"", "un perro"}}));
  corpus.set("test", "references", "un gato rojo\ny\n");
  BOOST_TEST(contains(corpus.refusal(), corpus.path("test.references")));
  corpus.set("test", "references", "un gato rojo\n\xff\nz\n");
  BOOST_TEST(contains(corpus.refusal(), "test.references:2: "));
  corpus.values.erase("test.target");
  BOOST_CHECK_THROW(corpus.load(), SpecError);
}

BOOST_AUTO_TEST_CASE(sentencepiece_end_to_end, *boost::unit_test::precondition(has_pieces)) {
  Corpus corpus;
  std::string source, target, links;
  for (int k = 0; k < 60; ++k) {
    source += fmt::format(
        "the reader number{} is reading {} books{}\n", k, k * 7 % 10, k % 2 ? " to children" : "");
    target += fmt::format("el lector numero{} lee {} libros\n", k, k * 7 % 10);
    links += "1-1\n";
  }
  for (const std::string split : {"train", "test"}) {
    corpus.set(split, "source", source);
    corpus.set(split, "target", target);
    corpus.set(split, "alignment", links);
  }
  corpus.values["vocabulary.type"] = "sentencepiece";
  corpus.values["vocabulary.size"] = "45";
  corpus.values["max_length"] = "25";
  const Dataset data = corpus.load();
  const SplitCounts& counts = data.train.counts;
  BOOST_TEST(counts.kept > 0);
  BOOST_TEST(counts.dropped_too_long > 0);  // measured in pieces, not words
  BOOST_TEST(counts.kept + counts.dropped_too_long == 60);
  for (const Example example : data.train.examples) BOOST_TEST(example.source.size() <= 25u);
  for (const Example example : data.test.examples) {
    BOOST_TEST(data.source->join(vector_of(example.source)) == example.source_text);
    std::string linked;
    for (const Link& link : example.links)
      if (link.target == example.links[0].target)
        linked += data.source->symbol(example.source[usize(link.source)]);
    BOOST_TEST(unmark_spaces(linked) == "reader");
  }
}

BOOST_AUTO_TEST_CASE(gzip_reads_alike) {
  Corpus corpus;
  const Dataset plain = corpus.load();
  corpus.values["train.source"] =
      write_gzip(corpus.scratch,
                 "packed",
                 "the house is red\n\nthe red house\na b c d e f g\nthe dog\na dog is a dog\n");
  const Dataset packed = corpus.load();
  BOOST_TEST(packed.source->serialize() == plain.source->serialize());
  BOOST_TEST(vector_of(packed.train.examples[3].source) ==
             vector_of(plain.train.examples[3].source));
}

BOOST_AUTO_TEST_CASE(sides_of_unequal_length) {
  Corpus corpus;
  corpus.set("dev", "target", "uno\ndos\ntres\n");
  BOOST_TEST(corpus.refusal().starts_with(corpus.path("dev.source") + " has 1 line and " +
                                          corpus.path("dev.target") + " has 3;"));
  corpus.set("dev", "source", "a\nb\nc\nd\ne\n");
  BOOST_TEST(
      contains(corpus.refusal(), "has 5 lines and " + corpus.path("dev.target") + " has 3;"));
  corpus.set("dev", "target", "a\nb\nc\nd\ne\n");
  corpus.set("test", "alignment", "0-0\n0-0\n");
  BOOST_TEST(
      contains(corpus.refusal(), "has 1 line and " + corpus.path("test.alignment") + " has 2;"));
}

BOOST_AUTO_TEST_CASE(bad_files_are_named_with_their_line) {
  Corpus corpus;
  const auto refused = [&](const char* side, const std::string& text, const std::string& fault) {
    corpus.set("test", side, text);
    BOOST_TEST(corpus.refusal().starts_with(corpus.path(std::string("test.") + side) + fault),
               corpus.refusal());
  };
  refused("alignment", "0-0 6-0\n", ":1: link '6-0' is out of range");
  corpus.values.erase("test.alignment");
  refused("target", "", ": the file is empty");
  refused("target", "\xFF\n", ":1: byte 1");
  corpus.set("test", "target", "un perro\n");
  corpus.values["vocabulary.type"] = "characters";
  corpus.values["max_length"] = "30";
  refused("source", std::string(10001, 'a') + "\n", ":1: 10001 tokens as characters");
  Corpus other;
  other.values["test.target"] = other.path("none");
  BOOST_TEST(contains(other.refusal(), other.path("none") + ": cannot be read"));
}

BOOST_AUTO_TEST_CASE(nothing_left) {
  Corpus corpus;
  corpus.values["max_length"] = "1";
  BOOST_TEST(corpus.refusal().starts_with(corpus.path("train.source") + ": "));
  corpus.values["max_length"] = "5";
  corpus.values["max_length_test"] = "2";
  BOOST_TEST(contains(corpus.refusal(), "dev.source: "));
  corpus.set("dev", "source", " \t\n");
  BOOST_TEST(contains(corpus.refusal(), corpus.path("dev.target")));
}

BOOST_AUTO_TEST_CASE(options_that_contradict_each_other) {
  struct WithVocabulary {
    VocabularyOptions vocabulary;
    void describe(OptionVisitor& v) { v("vocabulary", vocabulary, "symbols"); }
  };
  BOOST_TEST(contains(message_of<SpecError>(
                          [] { parse_spec<WithVocabulary>("vocabulary: {model: bpe}", "x.yaml"); }),
                      "x.yaml:1:21: "));
}

BOOST_AUTO_TEST_CASE(no_files_are_given) {
  const Choice choice{"task", "parallel_text", nullptr, {}};
  BOOST_CHECK_THROW(make_plugin<TaskKind>(choice)->load(1, {}), DataError);
}

BOOST_AUTO_TEST_CASE(progress_is_reported) {
  const Corpus corpus;
  std::vector<std::string> steps;
  corpus.load([&](std::string_view what, Index, Index) { steps.emplace_back(what); });
  BOOST_TEST(steps == std::vector<std::string>{"building the vocabularies"});
}

BOOST_AUTO_TEST_SUITE_END()
