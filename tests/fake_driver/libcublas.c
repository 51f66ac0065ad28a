// cuBLAS without a GPU, on the fake driver beside it. It has exactly the functions that the backend says it calls.
//
// A geam is handed to the driver as a kernel, so that it can be captured; the leading dimensions go where kernels have
// the blocks across and down. Compiled with -DNO_GEAM there is none.

#include "fake.h"

#include <stdint.h>

enum { NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13 };
enum { OP_N = 0, OP_T = 1 };

struct handle { void* stream; };

API cublasCreate_v2(struct handle** handle) {
    ENTER();
    *handle = calloc(1, sizeof **handle);
    note("create\n");
    return 0;
}
API cublasDestroy_v2(struct handle* handle) { ENTER(); note("destroy\n"); free(handle); return 0; }
API cublasSetStream_v2(struct handle* handle, void* stream) {
    ENTER();
    handle->stream = stream;
    note("use %p\n", stream);
    return 0;
}

#ifndef NO_GEAM

int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);

static int transpose(size_t width, struct handle* handle, int op_a, int op_b, int m, int n, double alpha, const void* a,
                     int lda, double beta, const void* b, int ldb, void* c, int ldc) {
    if (!handle) return NOT_INITIALIZED;
    note("geam %zu B, op %d %d, m %d, n %d, %g a + %g b, ld %d %d %d, b %s c\n", width, op_a, op_b, m, n, alpha, beta, lda,
         ldb, ldc, b == c ? "is" : "is not");
    // C is m x n, and so is B, which is not transposed; A, which is, is n x m.
    if (op_a != OP_T || op_b != OP_N || m < 1 || n < 1 || lda < n || ldb < m || ldc < m) return INVALID_VALUE;
    // What the fake driver's kernels do.
    if (alpha != 1 || beta != 0 || a == c || width != number("FAKE_WIDTH", 1)) return INVALID_VALUE;
    uint64_t source = (uintptr_t)a, destination = (uintptr_t)c;
    struct matrices matrices = {m, n, lda, ldc, 0, 0, 1, 1, 0};
    void* parameters[] = {&source, &destination, &matrices};
    return cuLaunchKernel("geam", 1, 1, 1, 32, 1, 1, 0, handle->stream, parameters, NULL) ? EXECUTION_FAILED : 0;
}

API cublasSgeam(struct handle* handle, int op_a, int op_b, int m, int n, const float* alpha, const float* a, int lda,
                const float* beta, const float* b, int ldb, float* c, int ldc) {
    ENTER();
    return transpose(4, handle, op_a, op_b, m, n, *alpha, a, lda, *beta, b, ldb, c, ldc);
}
API cublasDgeam(struct handle* handle, int op_a, int op_b, int m, int n, const double* alpha, const double* a, int lda,
                const double* beta, const double* b, int ldb, double* c, int ldc) {
    ENTER();
    return transpose(8, handle, op_a, op_b, m, n, *alpha, a, lda, *beta, b, ldb, c, ldc);
}

#endif
