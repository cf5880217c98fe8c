// Checkpoints with a valid hash and invalid content are refused.
#include <boost/test/unit_test.hpp>

#include "framework/base/bytes.hpp"
#include "tests/train/small_trainer.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

constexpr const char* kStateful =
    "schedule: {type: plateau}, average: {type: best, epochs: 2, metric: dev/loss}, ";

std::string position(Index epoch, Index batch, Index update, Index since) {
  ByteWriter out;
  for (const Index n : {epoch, batch, update}) out.number(n);
  out.number<std::uint8_t>(0);
  out.number<Index>(0);
  out.number<double>(0.5);
  out.number(since);
  return out.bytes();
}

std::string list(const std::vector<double>& values) {
  ByteWriter out;
  out.list(values);
  return out.bytes();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(restoring)

BOOST_AUTO_TEST_CASE(what_was_saved_is_taken) {
  SmallTrainer small(kStateful);
  const Checkpoint saved = small.checkpoint();
  small.trainer.restore(saved);
  BOOST_TEST(small.trainer.update() == saved.update);
}

BOOST_AUTO_TEST_CASE(what_no_training_leaves_is_refused) {
  SmallTrainer small(kStateful);
  const Checkpoint saved = small.checkpoint();
  const auto refused = [&](const std::string& name, const std::string& blob) {
    Checkpoint changed = saved;
    changed.blobs[name] = blob;
    BOOST_CHECK_THROW(small.trainer.restore(changed), DataError);
  };
  for (const auto& [name, blob] : saved.blobs) {
    BOOST_TEST_INFO(name);
    Checkpoint changed = saved;
    changed.blobs.erase(name);
    if (name != "best") BOOST_CHECK_THROW(small.trainer.restore(changed), DataError);
    refused(name, "");
    refused(name, blob + "x");
  }
  refused("position", position(-1, 0, 3, 0));
  refused("position", position(0, -1, 3, 0));
  refused("position", position(0, 0, -3, 0));
  refused("position", position(0, 0, 3, -1));
  refused("schedule", list({1, 0.5, 0}));
  refused("schedule", list({1, 0.5, 1e300, 1}));
  refused("schedule", list({1, 0.5, std::nan(""), 1}));
  refused("average", list({1, 2, 3}));
}

BOOST_AUTO_TEST_SUITE_END()
