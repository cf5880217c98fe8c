// What a shared object's file must be before the dynamic loader maps it: of one that is cut short the loader
// would read past the end and be killed by a signal.
#pragma once

#include <string>
#include <string_view>

namespace softalign {

// What is wrong with the bytes of a shared object, behind its name: no ELF file, another machine's, no shared
// object, or too short for the tables and segments that its header speaks of. Empty when nothing is.
std::string shared_object_fault(std::string_view bytes);

}  // namespace softalign
