// What the fakes have in common: a log, and failures on request.

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The parameter of every kernel, `Matrices` in cuda/common.cuh.
struct matrices {
    uint64_t rows, cols, src_ld, dst_ld, src_stride, dst_stride;
    unsigned across, down, down_first, segments, src_first, dst_first;
};

#define API __attribute__((visibility("default"))) int

static void note(const char* format, ...) {
    const char* path = getenv("FAKE_LOG");
    FILE* file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fclose(file);
}

static long number(const char* name, long otherwise) {
    const char* text = getenv(name);
    return text ? atol(text) : otherwise;
}

// The error that FAKE_FAIL wants from `function`, or 0.
static int wanted_error(const char* function) {
    const char* text = getenv("FAKE_FAIL");
    size_t length = strlen(function);
    return text && !strncmp(text, function, length) && text[length] == ':' ? atoi(text + length + 1) : 0;
}

#define ENTER() do { int error = wanted_error(__func__); if (error) return error; } while (0)
