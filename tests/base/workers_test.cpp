#include <boost/test/unit_test.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "framework/base/hash.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(workers)

BOOST_AUTO_TEST_CASE(each_piece_is_done_once) {
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> done(17);
      workers.run(17, [&](Index i) { ++done[usize(i)]; });
      for (const auto& count : done) BOOST_TEST(count == 1);
    }
    workers.run(0, [](Index) { BOOST_ERROR("there was nothing to do"); });
  }
}

BOOST_AUTO_TEST_CASE(the_first_exception_comes_back) {
  Workers workers(3);
  for (int round = 0; round < 50; ++round) {
    std::string text;
    try {
      workers.run(9, [](Index i) {
        if (i >= 2) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    BOOST_TEST(text == "2");
  }
  int sum = 0;
  workers.run(1, [&](Index) { sum = 5; });  // still usable
  BOOST_TEST(sum == 5);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(hashing_and_suggesting)

BOOST_AUTO_TEST_CASE(sha256_of_the_standards_examples) {  // FIPS 180-4
  BOOST_TEST(sha256_hex("abc") ==
             "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

BOOST_AUTO_TEST_CASE(the_nearest_name_is_suggested) {
  BOOST_TEST(suggestion("gian", {"gain", "units"}) == "; did you mean 'gain'? legal: gain, units");
  BOOST_TEST(suggestion("zzzzzz", {"gain", "units"}) == "; legal: gain, units");
  BOOST_TEST(suggestion("x", {}) == "");
}

BOOST_AUTO_TEST_CASE(a_rehearsal_does_all_pieces_in_order_and_times_them) {
  PieceTimes times;
  Workers workers(5, times);
  BOOST_TEST(workers.threads() == 5);
  std::vector<Index> done;
  const auto here = std::this_thread::get_id();
  workers.run(3, [&](Index i) {
    BOOST_TEST((std::this_thread::get_id() == here));
    done.push_back(i);
  });
  workers.run(0, [](Index) {});
  BOOST_TEST((done == std::vector<Index>{0, 1, 2}));
  BOOST_TEST(times.size() == 2u);
  BOOST_TEST(times[0].size() == 3u);
  BOOST_TEST(times[1].empty());
}

BOOST_AUTO_TEST_SUITE_END()
