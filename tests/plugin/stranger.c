// A plugin only by its tag: compiled by test_trust.py, it writes where it was loaded from into the file MARK as
// soon as it is mapped, and registers nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

const char tag[] = TAG;

__attribute__((constructor)) static void run(void) {
  Dl_info here;
  FILE* file = fopen(MARK, "w");
  if (file == NULL) return;
  if (dladdr(tag, &here) != 0) fprintf(file, "%s\n", here.dli_fname);
  fclose(file);
}
