/* The cost of reading each clock. */
#include "features.h"

#include <stddef.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#define TSC_ABSENT NULL
#else
#define TSC_ABSENT "this processor has no time stamp counter that programs read; run it on x86-64"
#define __rdtsc() 0
#endif

/* What was read may not be left out, but differs from slice to slice, so it is no part of the checksum. */
#define FRAME(name, declaration, reading)                                                                              \
    static uint64_t frame_##name(uint64_t iterations)                                                                  \
    {                                                                                                                  \
        uint64_t count = 0;                                                                                            \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                      \
            declaration;                                                                                               \
            reading;                                                                                                   \
            KIT_KEEP(time);                                                                                            \
            count++;                                                                                                   \
        }                                                                                                              \
        return count;                                                                                                  \
    }

FRAME(control, struct timespec time, KIT_HOLD(time))
FRAME(tsc_control, unsigned long long time, KIT_HOLD(time))
FRAME(tsc, unsigned long long time, time = __rdtsc())

#define CLOCKS(X)                                                                                                      \
    X(monotonic, CLOCK_MONOTONIC)                                                                                      \
    X(realtime, CLOCK_REALTIME)                                                                                        \
    X(process_cputime, CLOCK_PROCESS_CPUTIME_ID)                                                                       \
    X(thread_cputime, CLOCK_THREAD_CPUTIME_ID)                                                                         \
    X(monotonic_raw, CLOCK_MONOTONIC_RAW)                                                                              \
    X(monotonic_coarse, CLOCK_MONOTONIC_COARSE)

#define CLOCK_FRAME(name, clock) FRAME(name, struct timespec time, clock_gettime(clock, &time))
CLOCKS(CLOCK_FRAME)

#define ROW(clock_, id) {.name = "clock." #clock_, .control = frame_control, .test = frame_##clock_},
const struct kit_test clock_tests[] = {
    CLOCKS(ROW)
    {.name = "clock.tsc", .control = frame_tsc_control, .test = frame_tsc, .absent = TSC_ABSENT},
    {.name = NULL},
};
