// A plugin only by its tag: compiled by test_trust.py, it makes the file MARK as soon as it is mapped, and registers nothing.
#include <stdio.h>

const char tag[] = TAG;

__attribute__((constructor)) static void run(void) {
  FILE* file = fopen(MARK, "w");
  if (file != NULL) fclose(file);
}
