// The faults of a spec, collected so that all of them are reported at once.
#pragma once

#include <string>
#include <vector>

#include "framework/base/error.hpp"

namespace softalign {

class Faults {
 public:
  // `where` without a file: the fault has no place.
  void add(const Position& where, std::string text) { list_.push_back({where, std::move(text)}); }

  // Throws SpecError with a line for each, in the order of their places, if there are any.
  void throw_all();

 private:
  struct Fault {
    Position where;
    std::string text;
  };
  std::vector<Fault> list_;
};

}  // namespace softalign
