#include "framework/runs/scheduler.hpp"

#include <algorithm>
#include <charconv>
#include <regex>
#include <sstream>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/value.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Returns the text with its placeholders replaced; nullopt if one has no value.
std::optional<std::string> replaced(std::string_view text,
                                    const Placeholders& values,
                                    const std::string& what) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '{' ? text.find('}', at) : text.npos;
    const bool of_shell = at > 0 && text[at - 1] == '$';
    const std::string name(end == text.npos ? "" : text.substr(at + 1, end - at - 1));
    if (of_shell || !is_name(name)) {
      out += text[at++];
      continue;
    }
    const auto value = values.find(name);
    if (value == values.end()) {
      std::string known;
      for (const auto& [key, _] : values) known += (known.empty() ? "" : ", ") + key;
      throw SpecError("{}: there is no {{{}}}, only {}; write the shell's own braces as {{ {} }}",
                      what,
                      name,
                      known,
                      name);
    }
    if (value->second.empty()) return std::nullopt;
    out += value->second;
    at = end + 1;
  }
  return out;
}

std::string without_optional_parts(std::string line,
                                   const Placeholders& values,
                                   const std::string& what) {
  for (std::size_t begin = 0; (begin = line.find("{?", begin)) != line.npos;) {
    const std::size_t end = line.find("?}", begin);
    if (end == line.npos) throw SpecError("{}: {{? without ?}}", what);
    const std::string part = line.substr(begin + 2, end - begin - 2);
    line.replace(begin, end + 2 - begin, replaced(part, values, what) ? part : "");
  }
  return line;
}

std::regex pattern_of(const std::string& text, const std::string& what) {
  try {
    std::regex pattern(text);
    if (pattern.mark_count() == 1) return pattern;
  } catch (const std::regex_error&) {
  }
  throw SpecError(
      "{}: {}: is not a regular expression with one group", what, printable(text, kWhole));
}

// Returns the group's match in each line that the pattern matches.
std::vector<std::string> groups_in(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> groups;
  std::istringstream lines(text);
  std::smatch part;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, part, pattern)) groups.push_back(part[1].str());
  return groups;
}

std::string escaped(const std::string& text) {
  return std::regex_replace(text, std::regex(R"([\^$.*+?()\[\]{}|\\])"), R"(\$&)");
}

}  // namespace

std::string expand(const std::string& text, const Placeholders& values, const std::string& what) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = without_optional_parts(line, values, what);
    const auto options = values.find("options");
    const bool repeats = options != values.end() && line.find("{options}") != line.npos;
    std::istringstream each(repeats ? options->second : "once");
    Placeholders one = values;
    for (std::string option; std::getline(each, option);) {
      if (repeats) one["options"] = option;
      if (const auto made = replaced(line, one, what)) out += *made + "\n";
    }
  }
  return out;
}

Scheduler Scheduler::read(const std::string& name_or_file) {
  const bool shipped = name_or_file.find_first_of("/.") == std::string::npos;
  const fs::path file = shipped ? shipped_file("configs/schedulers/" + name_or_file + ".yaml")
                                : whole_path(name_or_file);
  if (shipped && file.empty())
    throw SpecError(
        "{}: no such scheduler; configs/schedulers/ has the known ones, and your own file is given "
        "by its path, such as ./{}.yaml",
        name_or_file,
        name_or_file);
  Scheduler scheduler;
  read_options(read_yaml(file), scheduler, "the scheduler");
  scheduler.name = shipped ? name_or_file : file.string();
  for (const char* part : {"{work}", "launch", "restart"})
    if (scheduler.script.find(part) == std::string::npos)
      throw SpecError("{}: script: {} is missing", scheduler.name, part);
  pattern_of(scheduler.job, scheduler.name + ": job");
  pattern_of(expand(scheduler.task, {{"job", "1"}}, scheduler.name), scheduler.name + ": task");
  for (const std::string& later : {scheduler.status, scheduler.cancel})
    expand(later, {{"job", "1"}, {"array", "1"}}, scheduler.name);
  return scheduler;
}

ProgramOutcome Scheduler::run(const std::string& command,
                              const Placeholders& values,
                              const fs::path& folder,
                              const std::string& input) const {
  return run_program({"/bin/sh",
                      "-c",
                      "cd " + shell_word(is_there(folder) ? folder.string() : ".") + " || exit\n" +
                          expand(command, values, name)},
                     input);
}

std::string Scheduler::ask_cluster(const fs::path& folder) const {
  if (cluster.empty()) return "";
  const ProgramOutcome outcome = run(cluster, {}, folder);
  if (!outcome.succeeded())
    throw MachineError(
        "{} does not answer: {}; --scheduler selects another", name, words_of(outcome));
  return std::string(trimmed(outcome.output));
}

std::set<Index> Scheduler::waiting(const std::string& array,
                                   const std::string& job_id,
                                   const fs::path& folder) const {
  const ProgramOutcome outcome =
      run(status, {{"array", array}, {"job", shell_word(job_id)}}, folder);
  if (!outcome.succeeded())
    throw MachineError(
        "{} does not answer about job {}: {}", name, printable(job_id), words_of(outcome));
  const std::string text = expand(task, {{"job", escaped(job_id)}}, name);
  const std::regex pattern = pattern_of(std::string(trimmed(text)), name + ": task");
  std::set<Index> tasks;
  for (const std::string& digits : groups_in(outcome.output, pattern)) {
    Index index = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (fault != std::errc() || end != digits.data() + digits.size())
      throw MachineError("{} does not answer about job {}: task's group is not an index: {}",
                         name,
                         printable(job_id),
                         printable(digits));
    tasks.insert(index);
  }
  return tasks;
}

std::string Scheduler::job_in(const std::string& output) const {
  const std::vector<std::string> jobs = groups_in(output, pattern_of(job, name + ": job"));
  if (!jobs.empty()) return jobs.front();
  throw MachineError("{}: submitted, but its output does not contain the job's ID: {}",
                     name,
                     printable(trimmed(output), 500));
}

std::string scheduler_name(const std::string& option) {
  if (!option.empty()) return option;
  const std::string name = environment_variable("SOFTALIGN_SCHEDULER");
  return name.empty() ? "slurm" : name;
}

std::string words_of(const ProgramOutcome& outcome) {
  if (outcome.timed_out) return "no answer within a minute";
  std::string words;
  std::istringstream lines(outcome.error.empty() ? outcome.output : outcome.error);
  for (std::string line; std::getline(lines, line);)
    if (const std::string_view text = trimmed(line); !text.empty())
      words += (words.empty() ? "" : "; ") + std::string(text);
  return words.empty() ? fmt::format("exit status {}", outcome.status) : printable(words, 1000);
}

}  // namespace softalign
