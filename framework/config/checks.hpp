// Checks of a spec that has been read, whose faults are reported together, each at its option.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
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

// The faults of a spec, collected so that all of them are reported at once.

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
