// What memory there is for a process: of the machine, and what limits leave of it.
#pragma once

#include <filesystem>
#include <string>

namespace softalign {

struct MachineMemory {
  double physical = 0;   // bytes; 0: not known
  double available = 0;  // of it, without taking any from others; 0: not known
  double limit = 0;      // most that this process can have; at most `physical`
  std::string limited_by = "physical memory";  // what `limit` is from, with its file
};

// Looks at the memory limits of the process's control groups (versions 1 and 2, those above it too) and
// at RLIMIT_AS. root: where /proc and /sys lie. What cannot be found out limits nothing.
MachineMemory machine_memory(const std::filesystem::path& root = "/");

// Bytes of this process that are in memory now.
double resident_bytes();

// "245 MB", "12.3 GB", "1.2 TB", of 10^6, 10^9 and 10^12 bytes.
std::string bytes_text(double bytes);

}  // namespace softalign
