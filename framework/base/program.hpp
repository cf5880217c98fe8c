// Another program, run to its end: found on PATH, no shell between, its arguments as they are.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace softalign {

struct ProgramOutcome {
  int status = -1;  // exit status; 127: there is no such program; 128 + n: ended by signal n
  std::string output;
  std::string error;       // what it wrote to standard error
  bool timed_out = false;  // it was still running at the limit, and was killed

  bool succeeded() const { return status == 0; }
  bool found() const { return status != 127; }
};

// `input` is its standard input. Throws MachineError when the machine gives no process or memory.
ProgramOutcome run_program(const std::vector<std::string>& arguments,
                           const std::string& input = "",
                           std::chrono::seconds limit = std::chrono::seconds(60));

}  // namespace softalign
