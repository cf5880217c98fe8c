// sweep.h5: its contents, and that its bytes depend on nothing else. tests/record/test_sweep_index.py reads it with
// third-party libraries.
#include "framework/analysis/sweep_index.hpp"

#include <cmath>
#include <cstdlib>

#include "framework/analysis/run_index.hpp"
#include "framework/base/files.hpp"
#include "framework/base/types.hpp"
#include "framework/data/cache.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "tests/analysis/runs.hpp"

using namespace softalign;
using namespace softalign::test;
namespace {

// A run of 12 updates, a run of 8 without test results, and a run that has not started.
SweepTable sweep_in(const fs::path& folder) {
  SweepTable table{"study", "dev/bleu", "maximize", {}};
  const auto row = [&](Index k, const std::string& state, const std::string& rate, Index updates) {
    const RunIdentity run = seeded(k + 1);
    SweepTable::Row made{.k = k,
                         .run_id = run.run_id,
                         .path = run.run_id,
                         .state = state,
                         .seed = k + 1,
                         .parameters = {{"model.attention.score.type", k == 1 ? "dot" : "señal"},
                                        {"train.optimizer.learning_rate", rate, true},
                                        {"seed", std::to_string(k + 1), true}},
                         .run = {}};
    if (k == 1) made.parameters.push_back({"model.encoder.units", "64", true});
    if (updates > 0) made.run = read_run(complete_run(folder, run, updates).root);
    table.rows.push_back(std::move(made));
  };
  row(0, "complete", "0.001", 12);
  row(1, "pruned", "1e-05", 8);
  row(2, "planned", "0.01", 0);
  table.rows[1].run->test = {};
  return table;
}

template <class T>
std::vector<T> values(const Hdf5Reader& file, const std::string& path) {
  return std::get<std::vector<T>>(file.read(path));
}

// Checks that two lists of numbers are equal, where NaN equals NaN.
void check(const std::vector<double>& found, const std::vector<double>& wanted) {
  BOOST_REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    BOOST_TEST((found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i]))),
               i << ": " << found[i] << " for " << wanted[i]);
}

const double kNone = std::nan("");
using Texts = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(sweep_index)

BOOST_AUTO_TEST_CASE(is_the_table_of_the_runs) {
  const Scratch scratch;
  const SweepTable table = sweep_in(scratch.path());
  BOOST_TEST(write_sweep_index(scratch / "sweep.h5", table));
  const Hdf5Reader file(scratch / "sweep.h5");
  BOOST_TEST(file.attributes("") == JsonObject({{"format", "softalign-sweep"},
                                                {"format_version", 1},
                                                {"goal", "maximize"},
                                                {"metric", "dev/bleu"},
                                                {"name", "study"}}));
  const Texts columns = {"run",
                         "run_id",
                         "path",
                         "state",
                         "seed",
                         "updates",
                         "value",
                         "model.attention.score.type",
                         "train.optimizer.learning_rate",
                         "model.encoder.units",
                         "dev_bleu",
                         "dev_bleu_best",
                         "dev_loss",
                         "dev_loss_best",
                         "test_bleu",
                         "test_loss",
                         "curves"};
  BOOST_TEST(file.children("") == columns, boost::test_tools::per_element());
  BOOST_TEST((values<std::int64_t>(file, "run") == Numbers{0, 1, 2}));
  BOOST_TEST((values<std::string>(file, "state") == Texts{"complete", "pruned", "planned"}));
  BOOST_TEST((values<std::int64_t>(file, "seed") == Numbers{1, 2, 3}));
  BOOST_TEST((values<std::int64_t>(file, "updates") == Numbers{12, 8, 0}));
  BOOST_TEST(
      (values<std::string>(file, "model.attention.score.type") == Texts{"señal", "dot", "señal"}));
  check(values<double>(file, "train.optimizer.learning_rate"), {0.001, 1e-05, 0.01});
  check(values<double>(file, "model.encoder.units"), {kNone, 64, kNone});
  check(values<double>(file, "dev_bleu"), {12, 50, kNone});
  check(values<double>(file, "dev_bleu_best"), {50, 50, kNone});
  check(values<double>(file, "dev_loss_best"), {1.0 / 12, 1.0 / 8, kNone});
  check(values<double>(file, "test_bleu"), {21.5, kNone, kNone});
  BOOST_TEST(file.attributes("test_bleu") ==
             JsonObject({{"long_name", "over all sentences of the test split"},
                         {"signature", "tok:none"},
                         {"units", "percent"}}));
}

BOOST_AUTO_TEST_CASE(curves_are_padded) {
  const Scratch scratch;
  write_sweep_index(scratch / "sweep.h5", sweep_in(scratch.path()));
  const Hdf5Reader file(scratch / "sweep.h5");
  const Texts columns = {"run", "update", "step", "dev_bleu", "dev_loss", "train_loss"};
  BOOST_TEST(file.children("curves") == columns, boost::test_tools::per_element());
  Numbers updates(36, -1);
  std::vector<double> bleu(36, kNone), loss(36, kNone);
  for (const auto& [row, last] : {std::pair(0, 12), std::pair(1, 8)})
    for (int u = 1; u <= last; ++u) {
      const auto at = usize(12 * row + u - 1);
      updates[at] = u;
      loss[at] = 10.0 / u;
      if (u % 4 == 0) bleu[at] = u == 8 ? 50 : u;
    }
  BOOST_TEST((values<std::int64_t>(file, "curves/update") == updates));
  check(values<double>(file, "curves/dev_bleu"), bleu);
  check(values<double>(file, "curves/train_loss"), loss);
}

BOOST_AUTO_TEST_CASE(the_goal_of_the_sweep_says_what_is_best) {
  const Scratch scratch;
  SweepTable table = sweep_in(scratch.path());
  table.goal = "minimize";
  write_sweep_index(scratch / "sweep.h5", table);
  check(values<double>(Hdf5Reader(scratch / "sweep.h5"), "dev_bleu_best"), {4, 4, kNone});
}

BOOST_AUTO_TEST_CASE(scores_of_two_signatures_have_both) {
  const Scratch scratch;
  SweepTable table = sweep_in(scratch.path());
  table.rows[1].run->test = table.rows[0].run->test;
  table.rows[1].run->test.facts[0].signature = "tok:13a";
  write_sweep_index(scratch / "sweep.h5", table);
  const JsonObject about = Hdf5Reader(scratch / "sweep.h5").attributes("test_bleu");
  BOOST_TEST(about.at("signature") == JsonObject({"tok:none", "tok:13a"}));
}

BOOST_AUTO_TEST_CASE(a_table_without_any_run_yet) {
  const Scratch scratch;
  SweepTable table = sweep_in(scratch.path());
  for (SweepTable::Row& row : table.rows) row.run.reset();
  write_sweep_index(scratch / "sweep.h5", table);
  const Hdf5Reader file(scratch / "sweep.h5");
  BOOST_TEST(!file.exists("curves"));
  BOOST_TEST(!file.exists("dev_loss"));
  BOOST_TEST((values<std::int64_t>(file, "updates") == Numbers{0, 0, 0}));
  table.rows.clear();
  BOOST_TEST(write_sweep_index(scratch / "sweep.h5", table));
  BOOST_TEST(Hdf5Reader(scratch / "sweep.h5").children("").empty());
}

// The same runs, made again at another time in another folder, give the same bytes.
BOOST_AUTO_TEST_CASE(its_bytes_are_a_function_of_plan_and_records) {
  const Scratch scratch;
  write_sweep_index(scratch / "a.h5", sweep_in(scratch / "a"));
  sleep(1);
  SweepTable again = sweep_in(scratch / "b");
  write_sweep_index(scratch / "b.h5", again);
  BOOST_TEST(read_file(scratch / "a.h5") == read_file(scratch / "b.h5"));
  for (SweepTable::Row& row : again.rows)  // as the run index returns them
    if (row.run)
      row.run = index_runs(scratch / "b" / "study" / row.run_id, {scratch / "cache"}).runs.at(0);
  again.rows[1].run->test = {};
  BOOST_TEST(!write_sweep_index(scratch / "b.h5", again));
}

BOOST_AUTO_TEST_CASE(is_replaced_only_when_it_changes) {
  const Scratch scratch;
  SweepTable table = sweep_in(scratch.path());
  const fs::path file = scratch / "sweep.h5";
  BOOST_TEST(write_sweep_index(file, table));
  const FileStamp before = stamp_of(file.c_str());
  BOOST_TEST(!write_sweep_index(file, table));
  BOOST_TEST((stamp_of(file.c_str()) == before));
  table.rows[2].state = "claimed";
  BOOST_TEST(write_sweep_index(file, table));
  const std::string whole = read_file(file);
  write_file(file, whole.substr(0, 1000));
  BOOST_CHECK_THROW(write_sweep_index(file, table), DataError);  // the damaged file may not be ours
  fs::remove(file);
  BOOST_TEST(write_sweep_index(file, table));
  BOOST_TEST(read_file(file) == whole);
}

BOOST_AUTO_TEST_CASE(a_full_disk_leaves_the_old_one) {
  const Scratch scratch;
  SweepTable table = sweep_in(scratch.path());
  const fs::path file = scratch / "sweep.h5";
  write_sweep_index(file, table);
  const std::string whole = read_file(file);
  table.rows[2].state = "claimed";
  for (int nth = 1; nth <= 3; ++nth) {
    FaultyFiles full(Fault::no_space, nth);
    BOOST_CHECK_THROW(write_sweep_index(file, table, full), MachineError);
    BOOST_TEST(read_file(file) == whole);
  }
}

BOOST_AUTO_TEST_CASE(is_no_record) {
  const Scratch scratch;
  write_sweep_index(scratch / "sweep.h5", sweep_in(scratch.path()));
  BOOST_TEST(contains(message_of<DataError>([&] { Record(scratch / "sweep.h5"); }),
                      "the table of a sweep"));
}

BOOST_AUTO_TEST_CASE(sample_for_python) {
  const Scratch scratch;
  const char* wanted = std::getenv("SOFTALIGN_SAMPLE");  // the folder to write it to
  const fs::path folder = wanted ? fs::path(wanted) : scratch.path();
  BOOST_TEST(write_sweep_index(folder / "sweep.h5", sweep_in(folder)));
}

BOOST_AUTO_TEST_SUITE_END()
