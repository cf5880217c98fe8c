#include "framework/app/trust/signature.hpp"

#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/program.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/base/text.hpp"

namespace softalign::app {
namespace {

constexpr const char* kNamespace = "softalign";
constexpr std::uint64_t kLargestSignature = 1 << 16;

std::string first_line_of(const std::string& text) {
  const std::string line = text.substr(0, text.find_first_of("\r\n"));
  return line.empty() ? "ssh-keygen does not say why" : printable(line, kWhole);
}

}  // namespace

std::string check_signature(const fs::path& record, const std::optional<std::string>& signers) {
  const fs::path file = record.string() + ".sig";
  if (fs::symlink_status(file).type() == fs::file_type::not_found) {
    if (!signers) return {};
    throw CheckError("{}: not signed: there is no {}", record.string(), file.filename().string());
  }
  // What never ends must not come before ssh-keygen.
  read_file(file, kLargestSignature);
  if (signers) demand_regular_file(*signers);
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
    if (signers) throw MachineError("{}: {}", file.string(), missing);
    return fmt::format("not checked: {}", missing);
  }
  if (!any.succeeded()) throw refused(any);
  if (!signers) return first_line_of(any.output) + "; --signers FILE tells whose key it is";
  const ProgramOutcome name = ssh_keygen({"find-principals", "-f", *signers});
  if (!name.succeeded())
    throw CheckError("{}: signed by nobody whom {} lists (lines of NAME KEYTYPE KEY): {}",
                     file.string(),
                     *signers,
                     first_line_of(any.output));
  const std::string who = name.output.substr(0, name.output.find_first_of(",\r\n"));
  const ProgramOutcome theirs = ssh_keygen({"verify", "-n", kNamespace, "-f", *signers, "-I", who});
  if (!theirs.succeeded()) throw refused(theirs);
  return first_line_of(theirs.output);
}

}  // namespace softalign::app
