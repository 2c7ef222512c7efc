/* The clocks of the system, and the one that the subject times with. */
#include "internal.h"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static inline uint64_t reading_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t kit_now(void)
{
    return reading_of(CLOCK_MONOTONIC);
}

#define POSIX_CLOCKS(X)                                                                                                \
    X(CLOCK_MONOTONIC)                                                                                                 \
    X(CLOCK_REALTIME)                                                                                                  \
    X(CLOCK_PROCESS_CPUTIME_ID)                                                                                        \
    X(CLOCK_THREAD_CPUTIME_ID)                                                                                         \
    X(CLOCK_MONOTONIC_RAW)                                                                                             \
    X(CLOCK_MONOTONIC_COARSE)

#define FILL(clock)                                                                                                    \
    static void fill_##clock(uint64_t *reading, size_t count)                                                          \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            reading[i] = reading_of(clock);                                                                            \
    }
POSIX_CLOCKS(FILL)

#if defined(__x86_64__)
static void fill_tsc(uint64_t *reading, size_t count)
{
    for (size_t i = 0; i < count; i++)
        reading[i] = __rdtsc();
}
#endif

#define SOURCE(clock) {.name = #clock, .unit = "ns", .fill = fill_##clock},
const struct clock_source clock_sources[] = {
    POSIX_CLOCKS(SOURCE)
#if defined(__x86_64__)
    {.name = "RDTSC", .unit = "ticks", .fill = fill_tsc},
#endif
    {.name = NULL},
};
