// HDF5 forgets memory of damaged files that it refuses, and only here are there so many of them. What is
// suppressed is no report.
extern "C" {
const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
const char* __lsan_default_options();
const char* __lsan_default_options() { return "print_suppressions=0"; }
}
