#include "tests/bench/counters.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

namespace {

std::atomic<std::uint64_t> calls{0};

}  // namespace

#ifndef SOFTALIGN_SANITIZE  // sanitizers define these functions themselves

// A program may replace malloc and its relatives; glibc's versions stay reachable under their __libc_ names.
extern "C" {
static void count() { calls.fetch_add(1, std::memory_order_relaxed); }

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t items, std::size_t size) {
  count();
  return __libc_calloc(items, size);
}
void* realloc(void* old, std::size_t size) {
  count();
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
  count();
  *place = __libc_memalign(alignment, size);
  return *place == nullptr ? ENOMEM : 0;
}
}

#endif

namespace softalign::bench {
namespace {

// The value of a line of /proc/self/status, in MiB.
double status_mib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(name + ":", 0) == 0) return std::stod(line.substr(name.size() + 1)) / 1024;
  return 0;
}

}  // namespace

std::uint64_t mallocs() { return calls.load(std::memory_order_relaxed); }
double resident_mib() { return status_mib("VmRSS"); }
double peak_resident_mib() { return status_mib("VmHWM"); }
void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace softalign::bench
