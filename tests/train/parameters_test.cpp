// The limit of the number of parameters, before any is allocated.
#include "framework/autodiff/parameters.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(parameter_sizes)

BOOST_AUTO_TEST_CASE(all_parameters_together_are_bounded) {
  ParameterStore store;
  const Shape half{kLargestLayer, kLargestModel / kLargestLayer / 2};
  store.add("first", half, {});
  store.add("second", half, {});
  BOOST_CHECK_THROW(store.add("third", {16}, {}), SpecError);
}

BOOST_AUTO_TEST_CASE(one_parameter_is_bounded_without_overflow) {
  ParameterStore store;
  const Index huge = Index{1} << 62;
  BOOST_CHECK_THROW(store.add("W", {huge, huge}, {}), SpecError);
}

BOOST_AUTO_TEST_CASE(a_model_larger_than_the_memory_is_refused_and_not_killed) {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (memory > 0x1p42) return;  // it would fit
  ParameterStore store;
  store.add("W", {kLargestLayer, kLargestModel / kLargestLayer}, {});
  BOOST_CHECK_THROW(store.allocate(1), MachineError);
}

BOOST_AUTO_TEST_SUITE_END()
