// Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 as a wish to stop. The step is finished and the state saved,
// which is said at once. All but SIGUSR1, by which Slurm tells of a time limit minutes ahead, are obeyed
// within ten seconds: a step that lasts longer is abandoned by an exception (base/abandon.hpp), and what
// cannot be left, such as a library's call, ends with the process. So it does at a second Ctrl-C.
// Files are then as a kill leaves them: the last checkpoint is kept. A signal that is ignored when
// the program starts, as nohup does, stays ignored.
#pragma once

namespace softalign::app {

void catch_interrupts();  // from now on, for the rest of the process; called by the thread that works
bool interrupted();

}  // namespace softalign::app
