// What an expected error says.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "framework/base/error.hpp"

namespace softalign::test {

// The message of the E that `call` throws; "accepted" where it throws nothing.
template <class E, std::invocable Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "accepted";
}

// The same of a SpecError, with the paths of files below `folder` as they are from there.
template <std::invocable Call>
std::string refusal(const Call& call, const std::string& folder = "") {
  std::string text = message_of<SpecError>(call);
  for (auto at = text.find(folder + "/"); !folder.empty() && at != text.npos;
       at = text.find(folder + "/"))
    text.erase(at, folder.size() + 1);
  return text;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace softalign::test
