// The cost of a row is computed from its spec; its duration is estimated from the pace of other rows.
#include "framework/runs/list_status.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/runs/plan.hpp"
#include "tests/runs/small_study.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

std::vector<double> costs_of(const Scratch& folder, const std::string& parameters) {
  const auto file =
      folder.write("sweep.yaml", "name: s\nbase: base.yaml\nparameters:\n" + parameters);
  const RunList list = plan_sweep(read_sweep(file), {}, folder / "results", resolve_spec).list;
  RowCosts costs(list, resolve_spec);
  BOOST_TEST(std::isnan(costs.of(list.rows[0])));
  costs.look(std::chrono::minutes(1));
  std::vector<double> found;
  for (const ListedRun& row : list.rows) found.push_back(costs.of(row));
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(row_costs)

BOOST_AUTO_TEST_CASE(of_a_task_that_says_its_size) {
  const Scratch folder;
  // All sentences have one length, because the mean of few random lengths is not exact.
  std::string spec = kSmallSpec;
  spec.replace(spec.find("train: [1, 4]"), 13, "train: [4, 4]");
  folder.write("base.yaml", spec);
  const auto epochs = costs_of(folder, "  train.epochs: {values: [2, 6]}\n");
  BOOST_TEST(epochs[1] == 3 * epochs[0], boost::test_tools::tolerance(1e-9));
  const auto examples = costs_of(folder, "  task.examples.train: {values: [60, 600]}\n");
  BOOST_TEST(examples[1] == 10 * examples[0], boost::test_tools::tolerance(1e-9));
  BOOST_TEST(examples[0] == 2 * epochs[0], boost::test_tools::tolerance(1e-9));  // of 4 epochs
  const auto units = costs_of(folder, "  model.encoder.units: {values: [8, 64]}\n");
  BOOST_TEST(units[1] > 5 * units[0]);
  const auto updates =
      costs_of(folder, "  train.max_updates: {values: [6, 1000]}\n");  // batches of 10 pairs
  BOOST_TEST(updates[1] == 4 * updates[0], boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(of_text_that_must_be_read) {
  const Scratch folder;
  const std::string spec = kSmallSpec;
  folder.write("base.yaml",
               "task: {type: parallel_text, train: {source: a, target: a}, dev: {source: a, "
               "target: a}, test: {source: a, target: a}}\n" +
                   spec.substr(spec.find("model:")));
  std::vector<double> costs;
  for (const int lines : {3, 12}) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += "x y z\n";
    folder.write("a", text);
    costs.push_back(costs_of(folder, "  train.epochs: {values: [4]}\n").front());
  }
  BOOST_TEST(costs[1] == 4 * costs[0], boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(the_pace_is_that_of_the_same_part_else_of_all) {
  RowPace pace;
  BOOST_TEST(std::isnan(pace.seconds("a", 1)));
  pace.add("a", 10, 20);
  pace.add("a", 30, 60);
  BOOST_TEST(pace.seconds("a", 5) == 10);
  BOOST_TEST(pace.seconds("b", 5) == 10);  // b has no measured row yet
  pace.add("b", 10, 10);
  BOOST_TEST(pace.seconds("b", 5) == 5);
  BOOST_TEST(pace.seconds("a", std::nan("")) == 40);  // unknown cost: as a mean row
  pace.add("c", std::nan(""), 7);
  BOOST_TEST(pace.seconds("c", 100) == 7);
}

BOOST_AUTO_TEST_CASE(complete_rows_say_how_early_others_will_stop) {
  const auto row = [](RunState state, Index made, Index planned) {
    RowStatus status;
    status.state = state;
    status.last_update = made;
    status.updates = planned;
    return status;
  };
  const RowStatus running = row(RunState::running, 10, 1000),
                  unknown = row(RunState::complete, 5, 0);
  BOOST_TEST(used_updates({}) == 1);
  BOOST_TEST(used_updates({running, unknown}) == 1);
  const RowStatus early = row(RunState::complete, 300, 1000),
                  whole = row(RunState::complete, 1000, 1000);
  BOOST_TEST(used_updates({running, early, unknown}) == 0.3);
  BOOST_TEST(used_updates({early, whole}) == 0.65);
}

BOOST_AUTO_TEST_SUITE_END()
