// The specs that people read and copy: those in configs/ and the studies in experiments/ are valid
// and run, and their comments are correct.
#include <algorithm>
#include <map>
#include <set>

#include <boost/test/unit_test.hpp>
#include "framework/base/files.hpp"
#include "framework/base/types.hpp"
#include "framework/config/help.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"
#include "framework/runs/plan.hpp"
#include "framework/train/experiment.hpp"
#include "tests/runs/small_study.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {
const fs::path kRoot = SOFTALIGN_SOURCE_DIR;

std::vector<fs::path> files(const fs::path& folder, const std::string& name) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".yaml" && (name.empty() || entry.path().filename() == name))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// Returns the specs of experiments in configs/. Its subfolders hold files of other kinds.
std::vector<fs::path> spec_files() {
  std::vector<fs::path> found = files(kRoot / "configs", "");
  std::erase_if(found,
                [](const fs::path& file) { return file.parent_path() != kRoot / "configs"; });
  return found;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string comment_of(const std::string& line) {
  const auto at = line.find("# ");
  return at == std::string::npos ? "" : line.substr(at + 2);
}

// Returns the names in "none (vanilla seq2seq) | global; and more".
std::vector<std::string> alternatives(const std::string& comment) {
  std::vector<std::string> names;
  std::string part;
  for (const char c : comment.substr(0, comment.find(';')) + "|") {
    if (c != '|') {
      part += c;
      continue;
    }
    names.emplace_back(trimmed(part.substr(0, part.find('('))));
    part.clear();
  }
  return names;
}

// Checks that a comment names the choices or the limits of an option.
void check_comment(const OptionNode& option, const std::string& comment, const std::string& where) {
  BOOST_TEST(!comment.empty(), where << " has no comment");
  if (const auto* choice = std::get_if<Choice>(&option.value)) {
    const auto names = alternatives(comment);
    for (const std::string& name : names)
      BOOST_TEST(Registry::instance().find_if_present(choice->kind, name) != nullptr,
                 where << ": there is no " << choice->kind << " '" << name << "'");
    BOOST_TEST(std::count(names.begin(), names.end(), choice->type) == 1,
               where << ": the comment does not name '" << choice->type << "'");
  } else if (!option.limits.names.empty()) {
    for (const std::string& name : option.limits.names)
      BOOST_TEST(contains(comment, name), where << ": the comment does not name '" << name << "'");
  } else {
    const std::string limits = limits_text(option.limits);
    BOOST_TEST(contains(comment, limits), where << ": the comment does not say " << limits);
  }
}

void check_comments(const OptionNode& option,
                    const Origins& origins,
                    const std::vector<std::string>& lines) {
  const bool choice = std::holds_alternative<Choice>(option.value);
  const auto origin = origins.find(choice ? option.path + ".type" : option.path);
  if (origin != origins.end() && origin->second.line > 0 && !option.block)
    check_comment(option,
                  comment_of(lines.at(usize(origin->second.line - 1))),
                  origin->second.str() + ": " + option.path);
  for (const OptionNode& child : option.children) check_comments(child, origins, lines);
}

// Returns overrides with which the spec runs in about a second.
std::vector<std::string> tiny(const Spec& spec, const Scratch& folder) {
  const std::string& task = spec.task.type;
  std::vector<std::string> changes = {
      "model.embedding=6", "model.decoder.units=6", "train.epochs=1", "evaluate.search=greedy"};
  changes.emplace_back(spec.model.encoder.type == "image_grid" ? "model.encoder.channels=[3, 4]"
                                                               : "model.encoder.units=6");
  if (task != "parallel_text") {
    changes.emplace_back("task.examples={train: 40, dev: 6, test: 12}");
    if (task == "associative_recall")
      changes.emplace_back("task.pairs={train: [2, 3], dev: [2, 3], test: [2, 4]}");
    else if (task != "date_format")
      changes.emplace_back("task.length={train: [2, 4], dev: [2, 4], test: [2, 6]}");
    return changes;
  }
  std::string source, target, links;
  for (int i = 0; i < 12; ++i) {
    source += i % 2 ? "the red house\n" : "a dog is a dog\n";
    target += i % 2 ? "la casa roja\n" : "un perro es un perro\n";
    links += i % 2 ? "0-0 1-2 2-1\n" : "0-0 1-1\n";
  }
  for (const std::string split : {"train", "dev", "test"})
    changes.push_back(fmt::format("task.{}={{source: {}, target: {}, alignment: {}}}",
                                  split,
                                  folder.write("source", source).string(),
                                  folder.write("target", target).string(),
                                  folder.write("links", links).string()));
  return changes;
}

void run_tiny(const std::string& yaml, const std::string& name) {
  const Scratch folder;
  const auto whole = parse_spec<Spec>(yaml, name);
  const auto resolved = parse_spec<Spec>(yaml, name, tiny(whole.spec, folder));
  ExperimentOptions options;
  options.results = (folder / "results");
  options.threads = 1;
  Observer nobody;
  const ExperimentOutcome outcome = run_experiment(resolved, options, nobody);
  BOOST_TEST(fs::exists(outcome.folder / "run.h5"), name);
  BOOST_TEST(outcome.test.sentences[0] == 12, name);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(specs)

BOOST_AUTO_TEST_CASE(configs_are_valid_and_their_comments_true) {
  const auto configs = spec_files();
  BOOST_TEST(configs.size() >= 6u);
  for (const fs::path& file : configs) {
    const auto resolved = load_spec<Spec>(file);
    check_spec(resolved);
    BOOST_TEST(run_name(resolved.spec).identity_json.size() > 0u);  // reads the input files
    BOOST_TEST(resolved.notes.empty(), file);
    check_comments(values_of(resolved.spec), resolved.origins, lines_of(file));
  }
}

BOOST_AUTO_TEST_CASE(configs_run) {
  for (const fs::path& file : spec_files())
    run_tiny(resolved_yaml(load_spec<Spec>(file).spec), file.filename().string());
}

BOOST_AUTO_TEST_CASE(the_reference_has_every_key_and_the_defaults) {
  const fs::path file = kRoot / "configs/reference.yaml";
  const auto resolved = load_spec<Spec>(file);
  for (const OptionHelp& option : option_help(Spec())) {
    bool is_there = resolved.origins.contains(option.path + ".type");
    for (std::size_t end = option.path.size(); end != 0 && end != std::string::npos;
         end = option.path.rfind('.', end - 1))  // itself, or a block above it that is null
      is_there = is_there || resolved.origins.contains(option.path.substr(0, end));
    BOOST_TEST((is_there || option.type == "block"), option.path << " is missing");
  }
  const auto defaults =
      parse_spec<Spec>("{task: reverse, train: {early_stopping: {}}}", "defaults");
  const auto expected = option_leaves(defaults.spec);
  const auto leaves = option_leaves(resolved.spec, resolved.origins);
  BOOST_REQUIRE(leaves.size() == expected.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    BOOST_TEST(leaves[i].path == expected[i].path);
    BOOST_TEST(leaves[i].value == expected[i].value, leaves[i].path);
    BOOST_TEST(leaves[i].origin != "default", leaves[i].path << " is missing");
  }
}

BOOST_AUTO_TEST_CASE(every_size_has_a_bound) {
  const auto check = [](const std::string& of, const std::vector<OptionHelp>& options) {
    for (const OptionHelp& option : options)
      if (contains(option.type, "integer") && !option.path.ends_with("seed"))
        BOOST_TEST(option.legal.starts_with("in ["),
                   of << ": " << option.path << " " << option.legal);
  };
  check("a spec", option_help(Spec()));
  for (const std::string& kind : Registry::instance().kinds())
    for (const PluginEntry* entry : Registry::instance().entries(kind))
      check(kind + " " + entry->name, option_help(*entry->options()));
}

BOOST_AUTO_TEST_CASE(absurd_values_are_refused_where_they_are_written) {
  for (const std::string& change : words_of(
           "model.encoder.units=10000000 model.embedding=65537 model.decoder.readout_units=65537 "
           "model.attention.score.units=0 task.symbols=2000000000 "
           "task.examples.train=9000000000000000000 evaluate.search.width=1000000000 "
           "evaluate.search.max_ratio=101 train.optimizer.learning_rate=1e39 "
           "train.clip_norm=1e39 train.optimizer.beta1=0.999999999 train.epochs=1000000000000 "
           "train.batch.pool=9000000000000000000")) {
    const std::vector<std::string> changes = {"evaluate.search=beam", change};
    BOOST_TEST(places_of(refusal([&] { load_spec<Spec>(kRoot / "configs/tiny.yaml", changes); })) ==
                   "override 2",
               change);
  }
}

BOOST_AUTO_TEST_CASE(what_the_reference_says_may_stand_instead_may) {
  const fs::path file = kRoot / "configs/reference.yaml";
  const auto lines = lines_of(file);
  std::map<int, std::string> choices;  // line of a `type` -> path of its block
  for (const auto& [path, where] : load_spec<Spec>(file).origins)
    if (path.ends_with(".type")) choices[where.line] = path.substr(0, path.size() - 5);
  std::set<std::string> named;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto at = lines[i].find("# or {");
    if (at == std::string::npos) continue;
    const std::string path = std::prev(choices.upper_bound(static_cast<int>(i)))->second;
    const std::string block = lines[i].substr(at + 5);
    const std::string name = block.substr(7, block.find_first_of(",}") - 7);
    const auto whole = load_spec<Spec>(file, {path + "=" + block});
    const auto bare = load_spec<Spec>(file, {path + "=" + name});
    check_spec(whole);
    BOOST_TEST(canonical_json(whole.spec) == canonical_json(bare.spec), lines[i]);
    named.insert(name);
  }
  BOOST_TEST(named.size() >= 7u);
}

BOOST_AUTO_TEST_CASE(an_encoder_of_images_is_refused_other_sources) {
  const auto reason = [](const char* file, const std::string& change) {
    return refusal([&] { check_spec(load_spec<Spec>(kRoot / file, {change})); });
  };
  BOOST_TEST(reason("configs/tiny.yaml", "model.encoder=image_grid") != "accepted");
  BOOST_TEST(reason("experiments/digits/scene.yaml", "model.encoder.height=8") != "accepted");
  BOOST_TEST(reason("experiments/digits/strip.yaml", "model.encoder=gru") == "accepted");
}

// tests/studies runs the studies in their tiny form.
BOOST_AUTO_TEST_CASE(studies_are_valid) {
  const auto studies = files(kRoot / "experiments", "study.yaml");
  BOOST_TEST(studies.size() >= 1u);
  for (const fs::path& file : studies) {
    if (is_there(file.parent_path() / "PACKAGES") && !is_there(file.parent_path() / "data"))
      continue;  // its corpus is built by a script
    for (const bool tiny : {false, true}) {
      const Plan plan = plan_sweep(read_sweep(file, tiny), {}, "results", resolve_spec);
      for (const std::string& note : plan.list.notes) BOOST_ERROR(note);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
