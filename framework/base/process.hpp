// What softalign needs of a process and of its threads.
//
// Every result relies on the usual arithmetic of IEEE 754: to nearest, and numbers below the normal ones are kept.
// Code that was compiled with -ffast-math sets another when it is loaded, so whatever computes puts its thread
// right while it computes, within another program too.
#pragma once

#include <cfenv>

namespace softalign {

// For a program of its own, at the beginning of main: usual arithmetic; writing to a closed pipe or beyond the
// limit of a file's size is an error of that call and no signal; one heap for all threads of the GNU C library,
// as many heaps take up to a quarter more memory than is estimated. A library within another program does
// without: no result depends on it.
void prepare_process();

bool has_usual_arithmetic();  // this thread
void set_usual_arithmetic();  // in this thread, from now on

// Usual arithmetic in this thread, and at the end what was there before.
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

}  // namespace softalign
