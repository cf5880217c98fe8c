#include "framework/app/trust/signature.hpp"

#include "framework/base/error.hpp"
#include "framework/base/program.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/base/text.hpp"
#include "framework/record/folder/status.hpp"

namespace softalign::app {
namespace {

constexpr const char* kNamespace = "softalign";

std::string first_line_of(const std::string& text) {
  return printable(text.substr(0, text.find('\n')), kWhole);
}

}  // namespace

std::string check_signature(const fs::path& record, const std::string& signers) {
  const fs::path file = record.string() + ".sig";
  if (!is_there(file)) {
    if (signers.empty()) return {};
    throw CheckError("{}: not signed: there is no {}", record.string(), file.filename().string());
  }
  const std::string bytes = read_file(record);
  const auto ssh_keygen = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ssh-keygen", "-Y"});
    arguments.insert(arguments.end(), {"-s", file.string()});
    return run_program(arguments, bytes);
  };
  const auto refused = [&](const ProgramOutcome& outcome) {
    return CheckError("{}: not a signature of the record: {}",
                      file.string(),
                      first_line_of(outcome.error + outcome.output));
  };
  const ProgramOutcome any = ssh_keygen({"check-novalidate", "-n", kNamespace});
  if (!any.found()) {
    const char* missing = "ssh-keygen (Debian: openssh-client) is not found";
    if (!signers.empty()) throw MachineError("{}: {}", file.string(), missing);
    return fmt::format("not checked: {}", missing);
  }
  if (!any.succeeded()) throw refused(any);
  if (signers.empty()) return first_line_of(any.output) + "; --signers FILE tells whose key it is";
  const ProgramOutcome names = ssh_keygen({"find-principals", "-f", signers});
  if (!names.succeeded())
    throw CheckError("{}: signed by nobody whom {} lists: {}",
                     file.string(),
                     signers,
                     first_line_of(any.output));
  const std::string who = names.output.substr(0, names.output.find('\n'));
  const ProgramOutcome theirs = ssh_keygen({"verify", "-n", kNamespace, "-f", signers, "-I", who});
  if (!theirs.succeeded()) throw refused(theirs);
  return first_line_of(theirs.output);
}

}  // namespace softalign::app
