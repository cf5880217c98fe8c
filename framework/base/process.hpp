// Processes: how this one and its threads are set up, running another program, and what /proc says of the
// machine and its processes.
#pragma once

#include <cfenv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace softalign {

// Every result relies on the default arithmetic of IEEE 754: rounding to nearest, with subnormal numbers. Code
// compiled with -ffast-math changes the mode when it is loaded, so threads restore it while they compute, also
// within other programs.

// For a program of its own, at the beginning of main: usual arithmetic; writing to a closed pipe or beyond the
// limit of a file's size is an error of that call and no signal; one heap for all threads of the GNU C library,
// as many heaps take up to a quarter more memory than is estimated. A library within another program does
// without: no result depends on it.
void prepare_process();

// Differs between Linux, macOS and other Unix systems.
std::filesystem::path program_file();  // that this process runs; empty: not known
// A file that comes with the program, by its name in the source tree, "scripts/serve.py": installed below
// share/softalign, or in that tree. Empty: it is not there.
std::filesystem::path shipped_file(const std::filesystem::path& name);
void end_with_parent();  // SIGTERM when the parent ends, called in a child; other than on Linux: nothing
int file_in_memory(
    const char* name);  // its descriptor, or -1; other than on Linux: an unnamed temporary file

bool has_usual_arithmetic();  // this thread
void set_usual_arithmetic();  // in this thread, from now on

// Default arithmetic in this thread; restores the previous mode at the end.
class UsualArithmetic {
 public:
  UsualArithmetic() {
    std::fegetenv(&before_);
    set_usual_arithmetic();
  }
  ~UsualArithmetic() { std::fesetenv(&before_); }
  UsualArithmetic(const UsualArithmetic&) = delete;
  UsualArithmetic& operator=(const UsualArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

// Runs another program to its end: found on PATH, without a shell.
struct ProgramOutcome {
  int status = -1;  // exit status; 127: program not found; 128 + n: ended by signal n
  std::string output;
  std::string error;       // its standard error
  bool timed_out = false;  // it was still running at the limit, and was killed

  bool succeeded() const { return status == 0; }
  bool found() const { return status != 127; }
};

// `input` is its standard input. Throws MachineError when the machine gives no process or memory.
ProgramOutcome run_program(const std::vector<std::string>& arguments,
                           const std::string& input = "",
                           std::chrono::seconds limit = std::chrono::seconds(60));

// Facts about this machine and its processes from /proc, for claims and provenance. Missing ones are empty.
// If one is unreadable now (too many open files), throws MachineError: treated as absent, it would prove a
// living process dead.

std::string host_name();
std::string first_line(const char* file);  // without the newline; empty if there is no such file
std::string process_start_time(
    std::int64_t pid);        // clock ticks since boot, "?" if unknown; empty: no such process
std::string pid_namespace();  // process numbers mean nothing outside it
std::string process_space();  // this boot's processes that have numbers here: 8 hexadecimal digits
std::string environment_variable(const char* variable);  // empty when unset
double unix_time();                                      // seconds
std::string utc_time(
    double unix_seconds);  // 2026-03-01T12:00:00Z; empty for 0 and what no year has

// The memory that there is for a process: of the machine, and what limits leave of it.
struct MachineMemory {
  double physical = 0;   // bytes; 0: not known
  double available = 0;  // of it, without taking any from others; 0: not known
  double limit = 0;      // most that this process can have; at most `physical`
  std::string limited_by = "physical memory";  // what `limit` is from, with its file
};

// Reads the memory limits of the process's control groups (versions 1 and 2, including parent groups)
// and RLIMIT_AS. root: the parent of /proc and /sys. Unknown limits are ignored.
MachineMemory machine_memory(const std::filesystem::path& root = "/");

// Bytes of this process that are in memory now.
double resident_bytes();

// "245 MB", "12.3 GB", "1.2 TB", of 10^6, 10^9 and 10^12 bytes.
std::string bytes_text(double bytes);

}  // namespace softalign
