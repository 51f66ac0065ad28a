// NVML without a GPU, on the fake driver beside it: the functions by which clocks are read, and no more.
//
// FAKE_THROTTLE is the set of reasons for low clocks (0), FAKE_CAPPED_NS how long power has been capped (0).

#include "fake.h"

#include <stdint.h>

enum { INVALID_ARGUMENT = 2, NOT_FOUND = 6 };
enum { CLOCK_SM = 1, CLOCK_MEM = 2 };
enum { POLICY_POWER = 0 };

struct violation { unsigned long long reference_us, violation_ns; };

// The only device of the fake driver; its address is its handle.
static const char address[] = "0000:c0:00.0";

API nvmlInit_v2(void) { ENTER(); note("nvml\n"); return 0; }
API nvmlShutdown(void) { ENTER(); return 0; }
API nvmlDeviceGetHandleByPciBusId_v2(const char* pci, const void** device) {
    ENTER();
    *device = address;
    return strcmp(pci, address) ? NOT_FOUND : 0;
}
API nvmlDeviceGetHandleByUUID(const char* uuid, const void** device) {
    ENTER();
    *device = address;
    return strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") ? NOT_FOUND : 0;
}
API nvmlDeviceGetClockInfo(const void* device, int clock, unsigned* mhz) {
    ENTER();
    if (device != address) return INVALID_ARGUMENT;
    *mhz = clock == CLOCK_SM ? 1980 : clock == CLOCK_MEM ? 3201 : 0;
    return 0;
}
API nvmlDeviceGetCurrentClocksThrottleReasons(const void* device, unsigned long long* reasons) {
    ENTER();
    *reasons = number("FAKE_THROTTLE", 0);
    return device != address;
}
API nvmlDeviceGetViolationStatus(const void* device, int policy, struct violation* status) {
    ENTER();
    *status = (struct violation){ 1, policy == POLICY_POWER ? number("FAKE_CAPPED_NS", 0) : 0 };
    return device != address;
}
