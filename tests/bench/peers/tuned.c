// Preloaded by compare.py: lets the matrix library that PyTorch brings take its AVX-512 path on processors of every maker.
int mkl_serv_intel_cpu_true(void) { return 1; }
int mkl_serv_intel_cpu(void) { return 1; }
