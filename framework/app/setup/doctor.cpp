// softalign doctor: reports the features and the speed of this machine, and missing software.
#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/app/command.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/plugins/plugins.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/cache.hpp"
#include "framework/data/sentencepiece.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/record/provenance/provenance.hpp"

namespace softalign::app {
namespace {

// Measures the GFLOP/s of matrix products as in training, on `threads` threads.
double gflops(int threads) {
  constexpr Index kRows = 64, kSize = 512;
  constexpr double kSeconds = 0.15;
  Workers workers(threads);
  std::vector<double> speeds(usize(threads));
  workers.run(threads, [&](Index i) {
    const std::vector<real> a(kRows * kSize, real(0.5)), b(kSize * kSize, real(0.5));
    std::vector<real> c(kRows * kSize);
    const auto product = [&] {
      gemm(Matrix{a.data(), kRows, kSize}, Matrix{b.data(), kSize, kSize}, false, c.data(), kSize);
    };
    product();  // the first one compiles the kernel
    const auto start = std::chrono::steady_clock::now();
    double seconds = 0;
    Index count = 0;
    for (; seconds < kSeconds; ++count) {
      product();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    speeds[usize(i)] = 2e-9 * static_cast<double>(count * kRows * kSize * kSize) / seconds;
  });
  double sum = 0;
  for (const double speed : speeds) sum += speed;
  return sum;
}

// Returns why a folder, or its nearest existing parent, is not writable; empty if it is.
std::string not_writable(fs::path folder) {
  folder = fs::absolute(folder);
  while (!fs::exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder)) return folder.string() + " is not a folder";
  if (access(folder.c_str(), W_OK | X_OK) != 0) return folder.string() + " cannot be written";
  return "";
}

// Returns the versions of packages of the Python that runs scripts/; empty for a missing package, or
// without Python.
std::map<std::string, std::string> python_versions(const std::vector<std::string>& packages) {
  constexpr const char* kAsk =
      "import importlib, sys\n"
      "for name in sys.argv[1:]:\n"
      "  try: print(importlib.import_module(name).__version__, flush=True)\n"
      "  except Exception: print()";
  std::vector<std::string> words = {python(), "-c", kAsk};
  words.insert(words.end(), packages.begin(), packages.end());
  // If memory is short, Python may try to import for ever.
  std::istringstream lines(run_program(words, "", std::chrono::seconds(20)).output);
  std::map<std::string, std::string> versions;
  for (const std::string& package : packages) std::getline(lines, versions[package]);
  return versions;
}

std::string cache_text() {
  const auto folder = cache_folder();
  if (!folder) return "none: every run prepares its text again";
  const auto bytes = static_cast<double>(disk_usage(*folder).bytes);
  return fmt::format("{}, {}, may be removed at any time", folder->string(), bytes_text(bytes));
}

struct Finding {
  std::string what;
  std::string found;
  std::string remedy;  // empty: all is well
  bool needed = false;
};

std::vector<Finding> findings(const std::string& results) {
  const JsonObject machine = gather_provenance();
  const auto fact = [&](const char* name) {
    const bool known = machine.is_object() && machine.contains(name);
    return known && machine[name].is_string() ? machine[name].get<std::string>() : "";
  };
  const int threads = resolve_thread_count(0);
  const BuildInfo& build = build_info();
  std::vector<Finding> list = {
      {"softalign",
       fmt::format("{}, commit {}{}",
                   build.version,
                   build.git_commit.substr(0, 12),
                   build.git_dirty ? " with changes" : ""),
       "",
       true},
      {"compiler", build.compiler + ", " + build.flags, "", true},
      {"libraries", fact("libs"), "", true},
      {"sentencepiece",
       sentencepiece_version().empty() ? "not built in" : sentencepiece_version(),
       sentencepiece_version().empty() ? kNoSentencepiece : "",
       false},
      {"processor", fact("cpu_model"), "", true},
      {"instructions", fact("isa"), "", true},
      {"system", fact("kernel"), "", true},
      {"matrix products", gemm_variant(), "", true},
      {"speed, 1 thread", fmt::format("{:.0f} GFLOP/s", gflops(1)), "", true}};
  if (threads > 1)
    list.push_back({fmt::format("speed, {} threads", threads),
                    fmt::format("{:.0f} GFLOP/s", gflops(threads)),
                    "",
                    true});
  const MachineMemory memory = machine_memory();
  list.push_back({"memory",
                  fmt::format("{}, {} available; limit of a run: {} ({})",
                              bytes_text(memory.physical),
                              bytes_text(memory.available),
                              bytes_text(memory.limit),
                              memory.limited_by),
                  "",
                  true});
  const std::string fault = not_writable(results);
  list.push_back({"results",
                  fault.empty() ? whole_path(results).string() : fault,
                  fault.empty() ? "" : "choose another folder with --results",
                  true});
  list.push_back({"cache", cache_text(), "", false});
  for (const auto& [package, version] : python_versions({"jinja2", "matplotlib"}))
    list.push_back(
        {fmt::format("{} {}", python(), package),
         version.empty() ? "not found" : version,
         version.empty()
             ? fmt::format("for reports and figures: apt-get install python3-{}", package)
             : "",
         false});
  return list;
}

void doctor(const std::string& results, bool as_json, Outcome& outcome) {
  Json json = Json::array();
  Table table({{"what"}, {"found"}});
  for (const Finding& finding : findings(results)) {
    const bool well = finding.remedy.empty();
    if (!well && finding.needed) outcome.code = ExitCode::failed;
    json.push_back({{"what", finding.what},
                    {"found", finding.found},
                    {"well", well},
                    {"needed", finding.needed},
                    {"remedy", finding.remedy}});
    table.row({finding.what, finding.found + (well ? "" : "; " + finding.remedy)});
  }
  if (as_json)
    print_json(json);
  else
    print_text("{}", table.str());
}

}  // namespace

void add_doctor(CLI::App& app, Outcome& outcome) {
  struct Arguments {
    std::string results = "results";
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(
      app, "doctor", "check this machine and measure its speed", "Setup", "softalign doctor");
  command->add_option("--results", arguments->results, "folder for the records")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "print the findings as JSON");
  command->callback(
      [arguments, &outcome] { doctor(arguments->results, arguments->json, outcome); });
}

}  // namespace softalign::app
