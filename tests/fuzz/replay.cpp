// fuzz_replay [TARGET [FILE...]]: gives each target, or one, the inputs of its corpus and some hundred
// changes of them, which are the same every time; or the files named. Ends with 1 at the first finding:
// its input is then in fuzz_replay.input.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#define TARGET(name) extern "C" int fuzz_##name(const std::uint8_t*, std::size_t);
FUZZ_TARGETS
#undef TARGET

namespace {

namespace fs = std::filesystem;

constexpr int kChanges = 300;       // per corpus
constexpr unsigned kSeconds = 300;  // an input that takes longer hangs, also on a busy machine

struct Target {
  std::string name;
  int (*run)(const std::uint8_t*, std::size_t);
};
#define TARGET(name) {#name, fuzz_##name},
const std::vector<Target> kTargets = {FUZZ_TARGETS};
#undef TARGET

std::string current;  // name of the current input
std::string bytes;    // its content

// Also called from a signal handler, so it does not allocate.
void keep_input() {
  const int file = open("fuzz_replay.input", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  bool kept = write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  kept = write(STDERR_FILENO, current.data(), current.size()) > 0 && kept;
  const char* const where =
      kept ? ": the input is in fuzz_replay.input\n" : ": it cannot be kept\n";
  if (write(STDERR_FILENO, where, std::char_traits<char>::length(where)) < 0) _exit(1);
}

void on_signal(int signal) {
  keep_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

bool run(const Target& target, const std::string& what, std::string input) {
  current = what;
  bytes = std::move(input);
  alarm(kSeconds);
  try {
    target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    return true;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", what, error.what());
    keep_input();
    return false;
  }
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Flips, removes or repeats some bytes, or replaces them by large or small numbers or by bytes of another input.
std::string changed(std::string text, const std::string& other, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) {
    return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
  };
  static const std::vector<std::string> kPieces = {std::string(8, '\0'),
                                                   std::string(8, '\xff'),
                                                   "\x80",
                                                   "0",
                                                   "-1",
                                                   "9223372036854775808",
                                                   "1e308",
                                                   "nan",
                                                   "\n",
                                                   "---\n",
                                                   ": ",
                                                   "[]",
                                                   "{}",
                                                   "'",
                                                   "\"",
                                                   "\xef\xbf\xbd",
                                                   "\x1b[2J"};
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(text.size() + 1), length = std::min(text.size() - at, below(16));
    switch (below(5)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.replace(at, length, kPieces[below(kPieces.size())]);
        break;
      default:
        text.replace(at, length, other.substr(std::min(at, other.size()), below(64)));
    }
  }
  return text;
}

// Returns whether there was no finding.
bool replay(const Target& target) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(CORPORA) / target.name))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs = {""};
  for (const fs::path& file : files) inputs.push_back(read(file));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!run(target, i == 0 ? target.name + ": nothing" : files[i - 1].string(), inputs[i]))
      return false;
  std::mt19937_64 random(files.size());
  for (int n = 0; n < kChanges; ++n) {
    const std::size_t i = random() % inputs.size(), other = random() % inputs.size();
    const std::string what = fmt::format("{}: change {}", target.name, n);
    if (!run(target, what, changed(inputs[i], inputs[other], random))) return false;
  }
  fmt::print("{}: {} inputs, {} changes of them\n", target.name, files.size(), kChanges);
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    std::signal(signal, on_signal);
  const std::vector<std::string> asked(arguments + 1, arguments + count);
  bool clean = true, known = asked.empty();
  for (const Target& target : kTargets) {
    if (!asked.empty() && asked[0] != target.name) continue;
    known = true;
    if (asked.size() <= 1) clean = replay(target) && clean;
    for (std::size_t i = 1; i < asked.size(); ++i)
      clean = run(target, asked[i], read(asked[i])) && clean;
  }
  if (!known) fmt::print(stderr, "{}: no target; see tests/fuzz\n", asked[0]);
  return clean && known ? 0 : 1;
}
