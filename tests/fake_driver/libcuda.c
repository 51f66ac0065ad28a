// A CUDA driver without a GPU, for tests of everything around the kernels. Device memory is host memory, and work is
// done when it is put on the stream. It has exactly the functions that the backend says it calls.
//
// Compiled with -DOLD it supports CUDA 11.4, with -DBARE it has no more than a version.
//
// At run time the environment decides: FAKE_FAIL=FUNCTION:CODE makes a function fail, FAKE_DEVICES is the number of
// devices (1), FAKE_BROKEN the index of one that cannot be read, FAKE_MEMORY the bytes of each (1 GiB), FAKE_WIDTH the
// bytes of an element (kernels here cannot know it otherwise). FAKE_LOG is a file that gets a line for what is done, and,
// where there is FAKE_ORDER, for what is put on streams.

#include "fake.h"

#include <stdint.h>
#include <time.h>

#ifdef OLD
#define VERSION 11040
#else
#define VERSION 13000
#endif

API cuDriverGetVersion(int* version) { ENTER(); *version = VERSION; return 0; }

#ifndef BARE

API cuInit(unsigned flags) { ENTER(); return flags; }

API cuGetErrorString(int error, const char** text) { ENTER(); *text = "an error"; return error ? 0 : 1; }

// Devices.

API cuDeviceGetCount(int* count) { ENTER(); *count = number("FAKE_DEVICES", 1); return 0; }
API cuDeviceGet(int* device, int ordinal) { ENTER(); *device = ordinal; return 0; }
API cuDeviceGetName(char* name, int length, int device) {
    ENTER();
    if (device == number("FAKE_BROKEN", -1)) return 999;
    snprintf(name, length, "Fake %d", device);
    return 0;
}
API cuDeviceTotalMem_v2(size_t* bytes, int device) { ENTER(); *bytes = number("FAKE_MEMORY", 1 << 30); return device < 0; }
API cuDeviceGetPCIBusId(char* text, int length, int device) {
    ENTER();
    snprintf(text, length, "0000:C%d:00.0", device);
    return 0;
}
API cuDeviceGetUuid(char uuid[16], int device) {
    ENTER();
    for (int i = 0; i < 16; i++) uuid[i] = 16 * device + i;
    return 0;
}
API cuDeviceGetAttribute(int* value, int attribute, int device) {
    ENTER();
    switch (attribute) {
        case 1: *value = 1024; break;       // MAX_THREADS_PER_BLOCK
        case 5: *value = 2147483647; break; // MAX_GRID_DIM_X
        case 8: *value = 49152; break;      // MAX_SHARED_MEMORY_PER_BLOCK
        case 11: *value = 2147483647; break; // MAX_PITCH
        case 16: *value = 132; break;       // MULTIPROCESSOR_COUNT
        case 36: *value = 3201000; break;   // MEMORY_CLOCK_RATE, kHz
        case 37: *value = 6016; break;      // GLOBAL_MEMORY_BUS_WIDTH
        case 38: *value = 60 << 20; break;  // L2_CACHE_SIZE
        case 75: *value = 9; break;         // COMPUTE_CAPABILITY_MAJOR
        case 81: *value = 233472; break;    // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
        case 82: *value = 65536; break;     // MAX_REGISTERS_PER_MULTIPROCESSOR
        case 97: *value = 232448; break;    // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        default: *value = 0;
    }
    return device < 0;
}

// Contexts.

static _Thread_local void* current;
API cuDevicePrimaryCtxRetain(void** context, int device) {
    ENTER();
    note("retain %d\n", device);
    *context = (void*)(uintptr_t)(0x1000 + device);
    return 0;
}
API cuDevicePrimaryCtxRelease_v2(int device) { ENTER(); note("release %d\n", device); return 0; }
API cuCtxGetCurrent(void** context) { ENTER(); *context = current; return 0; }
API cuCtxSetCurrent(void* context) { ENTER(); current = context; return 0; }
API cuCtxSynchronize(void) { ENTER(); return 0; }

// Memory. A header before each allocation holds its size.

static size_t used;
API cuMemGetInfo_v2(size_t* left, size_t* total) {
    ENTER();
    *total = number("FAKE_MEMORY", 1 << 30);
    *left = *total - used;
    return current ? 0 : 201;
}
API cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
    ENTER();
    if (!current) return 201;
    if (!bytes) return 1;
    if (used + bytes > (size_t)number("FAKE_MEMORY", 1 << 30)) return 2;
    char* memory = aligned_alloc(256, (256 + bytes + 255) / 256 * 256);
    if (!memory) return 2;
    *(size_t*)memory = bytes;
    used += bytes;
    *pointer = (uint64_t)(uintptr_t)(memory + 256);
    note("alloc %zu\n", bytes);
    return 0;
}
API cuMemFree_v2(uint64_t pointer) {
    ENTER();
    char* memory = (char*)(uintptr_t)pointer - 256;
    used -= *(size_t*)memory;
    note("free %zu\n", *(size_t*)memory);
    free(memory);
    return 0;
}

// What was locked, and not freed again.
static struct { char* begin; size_t bytes; } locked[64];

API cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
    ENTER();
    note("lock %zu\n", bytes);
    *pointer = malloc(bytes);
    int free = 0;
    while (locked[free].begin) free++;
    locked[free].begin = *pointer;
    locked[free].bytes = bytes;
    return flags > 1; // portable, or not
}
API cuMemFreeHost(void* pointer) {
    ENTER();
    note("unlock\n");
    for (int i = 0; i < 64; i++) {
        if (locked[i].begin == pointer) locked[i].begin = NULL;
    }
    free(pointer);
    return 0;
}
// Unlike the function for one attribute, it knows no wrong pointers: their attributes are 0.
API cuPointerGetAttributes(unsigned count, int* attributes, void** values, uint64_t pointer) {
    ENTER();
    if (count != 1 || attributes[0] != 2) return 1; // MEMORY_TYPE
    *(unsigned*)values[0] = 0;
    for (int i = 0; i < 64; i++) {
        uint64_t begin = (uintptr_t)locked[i].begin;
        if (begin && pointer >= begin && pointer < begin + locked[i].bytes) *(unsigned*)values[0] = 1; // of the host
    }
    return 0;
}

// Work.

// A stream is its number. What is put on it is logged, as long as somebody asks for it.
static void on(void* stream, const char* what) {
    if (stream && getenv("FAKE_ORDER")) note("on %d %s\n", *(int*)stream, what);
}

// The parameter of every probe, `Probe` in cuda/probe.cuh.
struct probe { unsigned blocks, steps, first, stride, count, window, shift, trap; };

// Whether a kernel is a probe.
static int is_probe(const char* kernel) {
    const char* probes[] = {"chase", "chase_shared", "chain", "multiply", "read", "read_shared", "banks", "load", "store"};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        if (!strcmp(kernel, probes[i])) return 1;
    }
    return 0;
}

// A chain is really followed and a store really done; the other probes are as fast as can be. Every block takes 1000
// cycles, and 10 more for each step.
static int perform_probe(const char* kernel, unsigned threads, char* source, uint64_t* state, struct probe p) {
    note("launch %s %u %u\n", kernel, p.blocks, p.steps);
    if (!strcmp(kernel, "store")) {
        unsigned* to = (unsigned*)state;
        // Elements of 4 bytes, 8 a thread.
        if (number("FAKE_WIDTH", 1) != 4) return 0;
        for (uint64_t i = 0; i < (uint64_t)p.blocks * threads * 8; i++) to[p.first + i * p.stride] = (unsigned)i ^ p.trap;
        return 0;
    }
    if (!strcmp(kernel, "chase")) {
        uint64_t at = state[0] ? state[0] : (uint64_t)(uintptr_t)source;
        for (unsigned i = 0; i < p.steps; i++) at = *(uint64_t*)(uintptr_t)at;
        state[0] = at;
    }
    if (!strcmp(kernel, "load") || (!strcmp(kernel, "read") && threads == 256)) return 0;
    for (unsigned block = 0; block < p.blocks; block++) state[1 + block] = 1000 + 10 * p.steps;
    return 0;
}

struct work {
    const char* kernel; // NULL: a copy of `matrices.rows` bytes
    unsigned blocks;
    uint64_t source, destination;
    struct matrices matrices;
    unsigned threads; // a probe's
    struct probe probe;
};
struct graph { struct work work[256]; unsigned count; };
static struct graph* capturing;

static int perform(const struct work* work) {
    const char* source = (const char*)(uintptr_t)work->source;
    char* destination = (char*)(uintptr_t)work->destination;
    const struct matrices m = work->matrices;
    if (!work->kernel) {
        note("launch memcpy\n");
        memcpy(destination, source, m.rows);
        return 0;
    }
    if (work->threads) {
        return perform_probe(work->kernel, work->threads, (char*)source, (uint64_t*)destination, work->probe);
    }
    size_t width = number("FAKE_WIDTH", 1);
    note("launch %s\n", work->kernel);
    if (!strcmp(work->kernel, "copy")) {
        memcpy(destination, source, m.rows * m.cols * width);
        return m.across == work->blocks && m.down == 1 ? 0 : 700;
    }
    if (work->blocks % (m.across * m.down) || m.down_first > 1) return 700;
    for (size_t matrix = 0; matrix < work->blocks / (m.across * m.down); matrix++) {
        for (size_t row = 0; row < m.rows; row++) {
            for (size_t col = 0; col < m.cols; col++) {
                size_t from = m.src_first + matrix * m.src_stride + row * m.src_ld + col;
                size_t to = m.dst_first + matrix * m.dst_stride + col * m.dst_ld + row;
                memcpy(destination + to * width, source + from * width, width);
            }
        }
    }
    return 0;
}
static int submit(struct work work) {
    if (!capturing) return perform(&work);
    if (capturing->count == 256) return 1;
    capturing->work[capturing->count++] = work;
    return 0;
}

API cuMemcpyHtoDAsync_v2(uint64_t destination, const void* source, size_t bytes, void* stream) {
    ENTER();
    on(stream, "upload");
    memcpy((void*)(uintptr_t)destination, source, bytes);
    return stream ? 0 : 400;
}
API cuMemcpyDtoHAsync_v2(void* destination, uint64_t source, size_t bytes, void* stream) {
    ENTER();
    on(stream, "download");
    memcpy(destination, (const void*)(uintptr_t)source, bytes);
    return stream ? 0 : 400;
}
struct copy_2d {
    size_t from_x, from_y;
    unsigned from_type;
    const char* from_host;
    uint64_t from_device;
    void* from_array;
    size_t from_pitch, to_x, to_y;
    unsigned to_type;
    char* to_host;
    uint64_t to_device;
    void* to_array;
    size_t to_pitch, row, rows;
};
API cuMemcpy2DAsync_v2(const struct copy_2d* copy, void* stream) {
    ENTER();
    note("plane %zux%zu\n", copy->rows, copy->row);
    on(stream, copy->from_type == 1 ? "upload" : "download");
    const char* from = copy->from_type == 1 ? copy->from_host : (const char*)(uintptr_t)copy->from_device;
    char* to = copy->to_type == 1 ? copy->to_host : (char*)(uintptr_t)copy->to_device;
    if (copy->from_type + copy->to_type != 3 || copy->from_pitch < copy->row || copy->to_pitch < copy->row) return 1;
    for (size_t row = 0; row < copy->rows; row++) {
        memcpy(to + row * copy->to_pitch, from + row * copy->from_pitch, copy->row);
    }
    return stream ? 0 : 400;
}
API cuMemcpyDtoDAsync_v2(uint64_t destination, uint64_t source, size_t bytes, void* stream) {
    ENTER();
    struct work work = {0};
    work.source = source;
    work.destination = destination;
    work.matrices.rows = bytes;
    return stream ? submit(work) : 400;
}
API cuMemsetD8Async(uint64_t destination, unsigned char value, size_t bytes, void* stream) {
    ENTER();
    memset((void*)(uintptr_t)destination, value, bytes);
    return stream ? 0 : 400;
}

// Modules. A module is its own kernel, a kernel its name.

API cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5) snprintf(values[i], 100, "ptxas fatal : not for this GPU\n");
    }
    ENTER();
    note("load\n");
    *module = malloc(32);
    return strstr(image, ".entry") ? 0 : 218;
}
API cuModuleUnload(void* module) { ENTER(); note("unload\n"); free(module); return 0; }
API cuModuleGetFunction(void** function, void* module, const char* name) {
    ENTER();
    snprintf(module, 32, "%s", name);
    *function = module;
    return 0;
}
API cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** parameters, void** extra) {
    ENTER();
    if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x * block_y * block_z > 1024 || shared || extra) return 1;
    struct work work = {function, grid_x, *(uint64_t*)parameters[0], *(uint64_t*)parameters[1]};
    if (is_probe(function)) {
        work.threads = block_x;
        work.probe = *(struct probe*)parameters[2];
        if (work.probe.blocks != grid_x) return 1;
    } else {
        work.matrices = *(struct matrices*)parameters[2];
    }
    on(stream, "kernel");
    return stream ? submit(work) : 400;
}

// Streams, graphs and events.

API cuStreamCreate(void** stream, unsigned flags) {
    ENTER();
    static int streams;
    *stream = malloc(sizeof streams);
    *(int*)*stream = ++streams;
    note("stream %p\n", *stream);
    return *stream && flags < 2 ? 0 : 1;
}
API cuStreamDestroy_v2(void* stream) { ENTER(); on(stream, "end"); free(stream); return 0; }
API cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
    ENTER();
    on(stream, "wait");
    return stream && event && !flags ? 0 : 400;
}
API cuStreamSynchronize(void* stream) {
    on(stream, "synchronize");
    ENTER();
    return capturing || !stream ? 900 : 0;
}
API cuStreamBeginCapture_v2(void* stream, int mode) {
    ENTER();
    if (capturing) return 901;
    capturing = calloc(1, sizeof *capturing);
    return stream && mode < 3 ? 0 : 1;
}
API cuStreamEndCapture(void* stream, void** graph) {
    if (!capturing) return 903;
    *graph = capturing;
    capturing = NULL;
    ENTER();
    note("capture %u\n", ((struct graph*)*graph)->count);
    return stream ? 0 : 400;
}
API cuGraphInstantiateWithFlags(void** executable, void* graph, uint64_t flags) {
    ENTER();
    *executable = malloc(sizeof(struct graph));
    memcpy(*executable, graph, sizeof(struct graph));
    return flags ? 1 : 0;
}
API cuGraphUpload(void* executable, void* stream) { ENTER(); return executable && stream ? 0 : 400; }
API cuGraphLaunch(void* executable, void* stream) {
    ENTER();
    struct graph* graph = executable;
    for (unsigned i = 0; i < graph->count; i++) {
        int error = perform(&graph->work[i]);
        if (error) return error;
    }
    return stream ? 0 : 400;
}
API cuGraphExecDestroy(void* executable) { ENTER(); free(executable); return 0; }
API cuGraphDestroy(void* graph) { ENTER(); note("forget\n"); free(graph); return 0; }

// An event is its flags, and when it was recorded: work is done by then.
struct event { unsigned flags; struct timespec at; };
API cuEventCreate(void** event, unsigned flags) {
    ENTER();
    *event = calloc(1, sizeof(struct event));
    ((struct event*)*event)->flags = flags;
    return 0;
}
API cuEventDestroy_v2(void* event) { ENTER(); free(event); return 0; }
API cuEventRecord(void* event, void* stream) {
    ENTER();
    on(stream, "record");
    if (!event || !stream) return 400;
    return clock_gettime(CLOCK_MONOTONIC, &((struct event*)event)->at);
}
API cuEventQuery(void* event) { ENTER(); return event ? 0 : 400; }
API cuEventSynchronize(void* event) { ENTER(); return event ? 0 : 400; }
API cuEventElapsedTime(float* ms, void* start, void* end) {
    ENTER();
    struct event *from = start, *to = end;
    if (from->flags || to->flags) return 400; // made without a time
    *ms = (to->at.tv_sec - from->at.tv_sec) * 1e3f + (to->at.tv_nsec - from->at.tv_nsec) * 1e-6f;
    return 0;
}

#endif
