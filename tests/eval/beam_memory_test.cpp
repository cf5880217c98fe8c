// A step of a search allocates nothing: twice as many steps call operator new as often.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "framework/data/vocabulary.hpp"
#include "framework/eval/beam.hpp"

using namespace softalign;

namespace {

std::atomic<long> calls_of_new{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++calls_of_new;
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  if (void* place = std::aligned_alloc(alignment, whole == 0 ? alignment : whole)) return place;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }

BOOST_AUTO_TEST_SUITE(beam_memory)

BOOST_AUTO_TEST_CASE(a_steady_step_allocates_nothing) {
  ModelOptions options;
  options.embedding = 8;
  for (const char* attention : {"global", "none"}) {
    options.attention.type = attention;
    Model model(options, 50, 50, 1);
    for (const Parameter& parameter : model.parameters().all())
      if (parameter.name == "projection.bias") parameter.value().data[kEnd] = -1000;  // never ends
    const std::vector<Token> tokens = {5, 3, 7, 4, 2, /**/ 6, 6, 2, 2, 2, /**/ 3, 2, 2, 2, 2};
    const std::vector<Index> lengths = {5, 3, 2};
    Tape tape(Tape::Mode::infer);
    for (Index width : {1, 5}) {
      const auto calls = [&](Index steps) {
        const long before = calls_of_new;
        const auto found =
            beam_search(model, tape, {tokens, 3, 5, lengths}, BeamSettings{width, 1, 1e-9, steps});
        for (const auto& list : found)
          for (const Hypothesis& hypothesis : list)
            BOOST_REQUIRE(std::ssize(hypothesis.tokens) == steps);
        return calls_of_new - before;
      };
      calls(300);  // the tape takes its memory
      const long some = calls(100), more = calls(300);
      BOOST_TEST(some > 0);  // the hypotheses themselves
      BOOST_TEST(more == some);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
