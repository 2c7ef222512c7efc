/* The clocks of the system, and the one that the subject times with. */
#include "internal.h"

#include <string.h>
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

/* Between two looks at whether time is up there are so many readings; a look takes no longer than a reading. */
#define READINGS_A_LOOK 1024u

static inline void keep_gap(struct gap_loop *loop, uint64_t start, uint64_t duration)
{
    if (loop->gaps < KIT_GAPS_MOST)
        loop->gap[loop->gaps] = (struct gap){.start = start, .duration = duration};
    loop->gaps++;
    loop->lost += duration;
}

/* Inlined into each clock's own loop, the reading with it. The last readings follow the look that found the time over, so that the
 * loop is never shorter than asked for. */
static inline __attribute__((always_inline)) void watch(struct gap_loop *loop, uint64_t (*read)(void))
{
    int64_t over = (int64_t)loop->over;
    uint64_t first = read(), before = first, end_ns = kit_now() + loop->time_ns;
    bool over_time;
    loop->readings = 1;
    do {
        over_time = kit_now() >= end_ns;
        for (unsigned i = 0; i < READINGS_A_LOOK; i++) {
            uint64_t now = read();
            if ((int64_t)(now - before) > over) /* a clock that is set back makes no gap */
                keep_gap(loop, before - first, now - before);
            before = now;
        }
        loop->readings += READINGS_A_LOOK;
    } while (!over_time);
    loop->elapsed = before > first ? before - first : 0;
}

#define POSIX_CLOCKS(X)                                                                                                \
    X(CLOCK_MONOTONIC)                                                                                                 \
    X(CLOCK_REALTIME)                                                                                                  \
    X(CLOCK_PROCESS_CPUTIME_ID)                                                                                        \
    X(CLOCK_THREAD_CPUTIME_ID)                                                                                         \
    X(CLOCK_MONOTONIC_RAW)                                                                                             \
    X(CLOCK_MONOTONIC_COARSE)

#define LOOPS(which, reading_now)                                                                                      \
    static inline uint64_t read_##which(void)                                                                          \
    {                                                                                                                  \
        return reading_now;                                                                                            \
    }                                                                                                                  \
    static void fill_##which(uint64_t *reading, size_t count)                                                          \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            reading[i] = reading_now;                                                                                  \
    }                                                                                                                  \
    static void watch_##which(struct gap_loop *loop)                                                                   \
    {                                                                                                                  \
        watch(loop, read_##which);                                                                                     \
    }

#define POSIX_LOOPS(clock) LOOPS(posix_##clock, reading_of(clock))
POSIX_CLOCKS(POSIX_LOOPS)
#if defined(__x86_64__)
LOOPS(tsc, __rdtsc())
#endif

#define SOURCE(its_name, its_unit, which) {.name = its_name, .unit = its_unit, .fill = fill_##which, .watch = watch_##which},
#define POSIX_SOURCE(clock) SOURCE(#clock, "ns", posix_##clock)
const struct clock_source clock_sources[] = {
    POSIX_CLOCKS(POSIX_SOURCE)
#if defined(__x86_64__)
    SOURCE("RDTSC", "ticks", tsc)
#endif
    {.name = NULL},
};

const struct clock_source *requested_clock(const struct request *request)
{
    for (const struct clock_source *clock = clock_sources; clock->name; clock++)
        if (strcmp(clock->name, request->word[1]) == 0)
            return clock;
    answer_error("unknown-clock", "%s; `list` names the clocks", request->word[1]);
    return NULL;
}
