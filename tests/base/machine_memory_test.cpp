// The memory limits of a machine, read from made-up files of /proc and /sys.
#include "framework/base/process.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/scratch.hpp"

using namespace softalign;
using test::Scratch;
namespace {

struct MadeMachine {
  Scratch root;
  MadeMachine() {
    root.write("proc/meminfo",
               "MemTotal:       1000000 kB\nMemFree: 5 kB\nMemAvailable:    600000 kB\n");
  }
  MachineMemory memory() const { return machine_memory(root.path()); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(without_groups_the_machine_is_the_limit) {
  const MachineMemory memory = MadeMachine().memory();
  BOOST_TEST(memory.physical == 1024e6);
  BOOST_TEST(memory.available == 600000 * 1024.0);
  BOOST_TEST(memory.limit == memory.physical);
  BOOST_TEST(memory.limited_by == "physical memory");
}

BOOST_AUTO_TEST_CASE(a_group_of_version_2_and_those_above_it_count) {
  const MadeMachine machine;
  machine.root.write("proc/self/cgroup", "0::/user/job/step\n");
  machine.root.write("sys/fs/cgroup/user/job/step/memory.max", "max\n");
  machine.root.write("sys/fs/cgroup/user/job/memory.max", "300000000\n");
  machine.root.write("sys/fs/cgroup/user/memory.max", "400000000\n");
  BOOST_TEST(machine.memory().limit == 3e8);
  BOOST_TEST(machine.memory().limited_by == "/sys/fs/cgroup/user/job/memory.max");
}

BOOST_AUTO_TEST_CASE(a_container_sees_only_the_root_of_its_groups) {
  const MadeMachine machine;
  machine.root.write("proc/self/cgroup", "0::/../../elsewhere\n");
  machine.root.write("sys/fs/cgroup/memory.max", "200000000\n");
  BOOST_TEST(machine.memory().limit == 2e8);
}

BOOST_AUTO_TEST_CASE(a_group_of_version_1_counts_and_its_no_limit_is_none) {
  const MadeMachine machine;
  machine.root.write("proc/self/cgroup", "8:pids:/a\n4:cpu,memory:/a/b\n0::/\n");
  machine.root.write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  BOOST_TEST(machine.memory().limited_by == "physical memory");
  machine.root.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "100000000\n");
  BOOST_TEST(machine.memory().limit == 1e8);
  machine.root.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "nonsense\n");
  BOOST_TEST(machine.memory().limited_by == "physical memory");
}

BOOST_AUTO_TEST_CASE(bytes_are_told_in_mb_and_gb) {
  BOOST_TEST(bytes_text(12.4e6) == "12 MB");
  BOOST_TEST(bytes_text(1.26e9) == "1.3 GB");
  BOOST_TEST(bytes_text(812.3e9) == "812 GB");
  BOOST_TEST(bytes_text(58.37e12) == "58.4 TB");
}
