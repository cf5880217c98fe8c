// What an expected error says.
#pragma once

#include <concepts>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

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

// Where the lines of a refusal point, without the file's name: "1:7 2:41", "override 2", or "accepted".
inline std::string places_of(const std::string& refusal) {
  static const std::regex place(R"((?:^|\n)(?:[^:\n]*:(\d+:\d+)|(override \d+)[^\n]*): )");
  std::string found;
  for (std::sregex_iterator at(refusal.begin(), refusal.end(), place), end; at != end; ++at)
    found += (found.empty() ? "" : " ") + at->str(1) + at->str(2);
  return found.empty() ? refusal : found;
}

// The words of a text: a list of cases.
inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace softalign::test
