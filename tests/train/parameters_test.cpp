// How large a model may be, before anything of it is made.
#include "framework/autodiff/parameters.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "framework/base/types.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

BOOST_AUTO_TEST_SUITE(parameter_sizes)

BOOST_AUTO_TEST_CASE(all_parameters_together_are_bounded) {
  ParameterStore store;
  const Shape half{kLargestLayer, kLargestModel / kLargestLayer / 2};
  store.add("first", half, {});
  store.add("second", half, {});
  BOOST_TEST(message_of<SpecError>([&] { store.add("third", {16}, {}); }) ==
             "the model would have 1.1e+12 parameters or more, 16 of them in 'third' [16]; at most "
             "1.1e+12 are allowed: use smaller sizes");
}

BOOST_AUTO_TEST_CASE(one_parameter_is_bounded_without_overflow) {
  ParameterStore store;
  const Index huge = Index{1} << 62;
  BOOST_TEST(message_of<SpecError>([&] {
               store.add("W", {huge, huge}, {});
             }).starts_with("the model would have 2.13e+37 parameters or more"));
}

BOOST_AUTO_TEST_CASE(a_model_larger_than_the_memory_is_refused_and_not_killed) {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (memory > 0x1p42) return;  // it would fit
  ParameterStore store;
  store.add("W", {kLargestLayer, kLargestModel / kLargestLayer}, {});
  BOOST_TEST(
      message_of<MachineError>([&] {
        store.allocate(1);
      }).starts_with("the model's 1099511627776 parameters take 4096.0 GiB, and this machine"));
}

BOOST_AUTO_TEST_SUITE_END()
