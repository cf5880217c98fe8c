// Ctrl-C, SIGTERM and SIGUSR1 as a wish to stop: work goes on to the next point where it can be
// saved. The first signal says so at once, further ones say that it is still being done.
#pragma once

namespace softalign::app {

void catch_interrupts();  // from now on, for the rest of the process
bool interrupted();

}  // namespace softalign::app
