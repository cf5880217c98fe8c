// What /proc says of this machine and of processes on it, for claims and provenance. What is not there is
// empty. What is there and cannot be read now (too many open files) throws MachineError: taken for absent,
// it would prove a process dead that is alive.
#pragma once

#include <cstdint>
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

}  // namespace softalign
