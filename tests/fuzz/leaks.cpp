// Suppresses leaks of HDF5, which loses memory when it refuses damaged files, of which fuzzing makes many.
extern "C" {
const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
const char* __lsan_default_options();
const char* __lsan_default_options() { return "print_suppressions=0"; }
}
