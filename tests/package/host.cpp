// Loads the plugin named on the command line and uses it through the framework's registry: the one
// registry that both see.
#include <dlfcn.h>

#include <cstdio>
#include <exception>

#include "probe.hpp"

int main(int, char** arguments) try {
  if (dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  softalign::Choice choice{.kind = "probe", .type = "doubling", .options = nullptr, .where = {}};
  const auto probe = softalign::make_plugin<softalign::ProbeKind>(choice, softalign::Index{21});
  std::printf("the plugin answers %d\n", static_cast<int>(probe->answer()));
  return probe->answer() == 42 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
