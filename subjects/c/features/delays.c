/* Delays: `zero` is sched_yield, the point where others may be scheduled; `relative` is nanosleep; `until` reads the clock
 * and sleeps until that time plus the delay. */
#include "features.h"

#include <sched.h>
#include <stddef.h>
#include <time.h>

static struct timespec requested;

static void set_request(uint64_t nanoseconds)
{
    requested.tv_sec = (time_t)(nanoseconds / 1000000000u);
    requested.tv_nsec = (long)(nanoseconds % 1000000000u);
}

static uint64_t frame_zero(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        sched_yield();
        sum += i;
    }
    return sum;
}

static uint64_t frame_relative(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        nanosleep(&requested, NULL);
        sum += i;
    }
    return sum;
}

static struct timespec after_request(struct timespec time)
{
    time.tv_sec += requested.tv_sec;
    time.tv_nsec += requested.tv_nsec;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

static uint64_t frame_until(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        struct timespec wake = after_request(now);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
        sum += i;
    }
    return sum;
}

const struct kit_test delay_tests[] = {
    {.name = "delay.zero", .control = empty_loop, .test = frame_zero},
    {.name = "delay.relative", .control = empty_loop, .test = frame_relative, .prepare = set_request, .arg_unit = "ns"},
    {.name = "delay.until", .control = empty_loop, .test = frame_until, .prepare = set_request, .arg_unit = "ns"},
    {.name = NULL},
};
