// Averages of parameters, computed by hand.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include "framework/train/averaging.hpp"

using namespace softalign;

namespace {

using Numbers = std::vector<real>;

MetricTable dev_loss(double value) {
  return {{"all"}, {1}, {"loss"}, {{.title = "loss"}}, {{value}}};
}

Averaging restored(const Averaging& averaging, const AverageOptions& options) {
  Checkpoint checkpoint;
  averaging.save(checkpoint.blobs);
  Averaging again(options, 2);
  again.restore(checkpoint);
  return again;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(averages)

BOOST_AUTO_TEST_CASE(exponential) {
  const AverageOptions options{.type = "exponential", .decay = 0.2};
  Averaging averaging(options, 2);
  Workers workers(2);
  averaging.begin(Numbers{0, 8}.data());
  averaging.updated(
      1, Numbers{11, -3}.data(), workers);  // decay 2/11, below 0.2: + 9/11 of the way
  BOOST_TEST(std::abs((*averaging.for_evaluation(nullptr))[0] - 9) < 1e-5);
  BOOST_TEST(std::abs((*averaging.for_evaluation(nullptr))[1] - (-1)) < 1e-5);
  Averaging again = restored(averaging, options);
  again.updated(2, Numbers{4, 9}.data(), workers);  // 3/12 is more than 0.2
  const Numbers now = *again.for_evaluation(nullptr);
  BOOST_TEST(std::abs(now[0] - 5) < 1e-5);
  BOOST_TEST(std::abs(now[1] - 7) < 1e-5);
  BOOST_TEST(!again.for_test());
}

BOOST_AUTO_TEST_CASE(the_last_epochs) {
  const AverageOptions options{.type = "last", .epochs = 2};
  Averaging averaging(options, 2);
  const Numbers first = {1, 2}, second = {3, 6}, third = {7, 0};
  BOOST_TEST(*averaging.for_evaluation(first.data()) == first);
  averaging.evaluated(dev_loss(1), first.data());
  BOOST_TEST((*averaging.for_evaluation(second.data()) == Numbers{2, 4}));
  BOOST_TEST((*averaging.for_evaluation(second.data()) == Numbers{2, 4}));  // again
  averaging.evaluated(dev_loss(9), second.data());
  Averaging again = restored(averaging, options);
  BOOST_TEST((*again.for_evaluation(third.data()) == Numbers{5, 3}));
  BOOST_TEST(!again.for_test());
}

// Averages every second update; ends of epochs do not matter.
BOOST_AUTO_TEST_CASE(the_last_states_that_lie_so_many_updates_apart) {
  const AverageOptions options{.type = "last", .epochs = 2, .every = 2};
  Averaging averaging(options, 2);
  Workers workers(1);
  const Numbers updates[] = {{1, 1}, {2, 4}, {9, 9}, {6, 8}, {5, 5}, {4, 0}};
  for (Index update = 1; update <= 5; ++update) {
    averaging.updated(update, updates[update - 1].data(), workers);
    if (update == 1) BOOST_TEST(!averaging.for_evaluation(updates[0].data()));
    averaging.evaluated(dev_loss(1), updates[update - 1].data());
    if (update == 3) BOOST_TEST((*averaging.for_evaluation(updates[2].data()) == Numbers{2, 4}));
  }
  BOOST_TEST((*averaging.for_evaluation(updates[4].data()) == Numbers{4, 6}));
  Averaging again = restored(averaging, options);
  again.updated(6, updates[5].data(), workers);
  BOOST_TEST((*again.for_evaluation(updates[5].data()) == Numbers{5, 4}));
  BOOST_TEST(!again.for_test());
}

BOOST_AUTO_TEST_CASE(the_best_epochs) {
  const AverageOptions options{.type = "best", .epochs = 2};
  Averaging averaging(options, 2);
  const Numbers epochs[] = {{1, 1}, {2, 4}, {100, 100}, {6, 8}, {50, 50}};
  const double losses[] = {5, 2, 7, 1, 2};  // a later 2 does not replace the first
  for (std::size_t i = 0; i < 5; ++i) {
    BOOST_TEST(!averaging.for_evaluation(epochs[i].data()));
    averaging.evaluated(dev_loss(losses[i]), epochs[i].data());
    if (i == 1) BOOST_TEST((*averaging.for_test() == Numbers{1.5, 2.5}));
  }
  BOOST_TEST((*averaging.for_test() == Numbers{4, 6}));
  BOOST_TEST((*restored(averaging, options).for_test() == Numbers{4, 6}));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_without_it_is_refused) {
  Averaging averaging({.type = "exponential"}, 2);
  BOOST_CHECK_THROW(averaging.restore({}), DataError);
  Checkpoint other;
  averaging.begin(Numbers{1, 2}.data());
  averaging.save(other.blobs);
  BOOST_CHECK_THROW(Averaging({.type = "exponential"}, 3).restore(other), DataError);
}

BOOST_AUTO_TEST_SUITE_END()
