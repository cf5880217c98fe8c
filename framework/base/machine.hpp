// What /proc says of this machine and of processes on it, for claims and provenance. What is not there is
// empty. What is there and cannot be read now (too many open files) throws MachineError: taken for absent,
// it would prove a process dead that is alive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace softalign {

std::string host_name();
std::string first_line(const char* file);          // without the newline; empty: no such file
std::string process_start_time(std::int64_t pid);  // clock ticks since boot; empty: no such process
std::string pid_namespace();                       // process numbers mean nothing outside it
std::string process_space();  // this boot's processes that have numbers here: 8 hexadecimal digits
std::string environment_variable(const char* variable);  // empty when unset
double unix_time();                                      // seconds
std::string utc_time(
    double unix_seconds);  // 2026-03-01T12:00:00Z; empty for 0 and what no year has

// What memory there is for a process: of the machine, and what limits leave of it.

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
