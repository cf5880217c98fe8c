// Processes: setting up this one and its threads, running other programs, and facts from /proc about the machine
// and its processes.
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
// compiled with -ffast-math changes the mode when it is loaded, so threads set the default while they compute, also
// within other programs.

// Sets up a process at the beginning of main: default arithmetic; writing to a closed pipe or beyond the file size
// limit fails instead of raising a signal; all threads share one heap of the GNU C library, because several heaps
// take up to a quarter more memory than is estimated. A library within another program does not call this: no
// result depends on it.
void prepare_process();

// The following functions differ between Linux, macOS and other Unix systems.
std::filesystem::path program_file();  // the program that this process runs; empty if unknown
// Returns a file that comes with the program, given its name in the source tree ("scripts/serve.py"): installed
// below share/softalign, or in the source tree; empty if it is missing.
std::filesystem::path shipped_file(const std::filesystem::path& name);
void end_with_parent();  // in a child: SIGTERM when the parent ends; does nothing except on Linux
int file_in_memory(
    const char* name);  // a descriptor, or -1; except on Linux, of an unnamed temporary file

bool has_usual_arithmetic();  // in this thread
void set_usual_arithmetic();  // in this thread

// Sets the default arithmetic in this thread; the destructor restores the previous mode.
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

// The outcome of run_program.
struct ProgramOutcome {
  int status = -1;  // exit status; 127: program not found; 128 + n: ended by signal n
  std::string output;
  std::string error;       // standard error
  bool timed_out = false;  // the program was still running at the limit, and was killed

  bool succeeded() const { return status == 0; }
  bool found() const { return status != 127; }
};

// Runs a program on PATH, without a shell, until it ends; `input` is its standard input. Throws MachineError if there
// is no process or memory for it.
ProgramOutcome run_program(const std::vector<std::string>& arguments,
                           const std::string& input = "",
                           std::chrono::seconds limit = std::chrono::seconds(60));

// Facts about this machine and its processes from /proc, for claims and provenance. Missing facts are empty. Throws
// MachineError if one is unreadable now (too many open files): treated as missing, it would prove a living process
// dead.

std::string host_name();
std::string first_line(const char* file);  // without the newline; empty if the file is missing
std::string process_start_time(
    std::int64_t pid);        // clock ticks since boot, "?" if unknown; empty: no such process
std::string pid_namespace();  // process IDs are valid only within it
std::string process_space();  // 8 hexadecimal digits that identify this boot and PID namespace
std::string environment_variable(const char* variable);  // empty when unset
double unix_time();                                      // seconds
std::string utc_time(
    double unix_seconds);  // 2026-03-01T12:00:00Z; empty unless positive and before year 10000

// The memory of the machine, and how much of it this process may use, in bytes.
struct MachineMemory {
  double physical = 0;   // 0 if unknown
  double available = 0;  // physical memory that is free for new use; 0 if unknown
  double limit = 0;      // the most that this process can have; at most `physical`
  std::string limited_by = "physical memory";  // the source of `limit`, e.g. a file of cgroups
};

// Reads the memory limits of the process's control groups (versions 1 and 2, including parent groups)
// and RLIMIT_AS. root: the parent of /proc and /sys. Unknown limits are ignored.
MachineMemory machine_memory(const std::filesystem::path& root = "/");

// Returns how many bytes of this process are in memory now.
double resident_bytes();

// Returns "245 MB", "12.3 GB" or "1.2 TB", in units of 10^6, 10^9 and 10^12 bytes.
std::string bytes_text(double bytes);

}  // namespace softalign
