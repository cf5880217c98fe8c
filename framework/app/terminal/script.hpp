// The project's Python scripts, where a command is one of them.
#pragma once

#include <string>
#include <vector>

namespace softalign::app {

// The Python that runs scripts: $SOFTALIGN_PYTHON, else that of the active environment, else the
// system's, which has Debian's libraries.
std::string python();

// Ends this program and becomes scripts/<name>, run by python(): installed beside the
// program (bin/ and share/softalign/scripts/), or in the source tree that it was built in. Throws
// MachineError when it is not there. `packages`: Debian's, that it needs, for the message.
[[noreturn]] void become_script(const std::string& name,
                                const std::vector<std::string>& arguments,
                                const std::string& packages);

}  // namespace softalign::app
