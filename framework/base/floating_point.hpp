// The mode of a thread's arithmetic. Every result relies on the usual one of IEEE 754: to nearest, and numbers
// below the normal ones are kept. Code that was compiled with -ffast-math sets another when it is loaded.
#pragma once

namespace softalign {

bool is_usual_floating_point();   // of this thread
void set_usual_floating_point();  // of this thread, from now on

}  // namespace softalign
