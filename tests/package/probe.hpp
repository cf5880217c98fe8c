// The kind of plugin that probe.cpp provides and host.cpp asks for.
#pragma once

#include "framework/config/registry.hpp"

namespace softalign {

class Probe {
 public:
  virtual ~Probe() = default;
  virtual Index answer() const = 0;
};

struct ProbeKind {
  static constexpr const char* name = "probe";
  using Make = std::unique_ptr<Probe>(Index);
};

}  // namespace softalign
