// HDF5 forgets memory of damaged files that it refuses, and only here are there so many of them.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
