// The signature beside a record, run.h5.sig, made with OpenSSH:
//   ssh-keygen -Y sign -n softalign -f ~/.ssh/id_ed25519 run.h5
#pragma once

#include <optional>
#include <string>

#include "framework/base/path.hpp"

namespace softalign::app {

// Checks it, with ssh-keygen, and says who signed. `signers`: OpenSSH's list of allowed signers (man
// ssh-keygen); none: any key will do. Empty when the record is not signed, which is refused with
// a list. Throws CheckError for a signature of other bytes or nobody on the list, DataError for files
// that cannot be read, MachineError where a list is given but no ssh-keygen is found.
std::string check_signature(const fs::path& record, const std::optional<std::string>& signers);

}  // namespace softalign::app
