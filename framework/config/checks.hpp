// Checks of a spec that has been read, whose faults are reported together, each at its option.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/config/reader.hpp"

namespace softalign {

class Checks {
 public:
  explicit Checks(const Origins& origins) : origins_(origins) {}

  // Returns whether `check` threw no SpecError. One that begins with an option ("train.loss: ...") gets
  // the place of that, or of the block around it, unless it has one.
  bool pass(const std::function<void()>& check);
  // Throws SpecError with a line for each fault, if there were any.
  void finish() const;

 private:
  const Origins& origins_;
  std::vector<std::string> faults_;
};

}  // namespace softalign
