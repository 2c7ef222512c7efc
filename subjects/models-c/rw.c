#include "rw.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static long readers, writers, rounds, work;
static volatile int32_t halves[2];
static atomic_long torn;
static _Atomic uint32_t sum;

static uint32_t read_once(uint32_t x)
{
    read_enter();
    int32_t first = halves[0];
    x = busy(x, work);
    sched_yield();
    if (halves[1] != first)
        atomic_fetch_add(&torn, 1);
    read_leave();
    return x;
}

static uint32_t write_once(uint32_t x)
{
    write_enter();
    halves[0] = halves[0] + 1;
    x = busy(x, work);
    sched_yield();
    halves[1] = halves[1] + 1;
    write_leave();
    return x;
}

static void *body(void *argument)
{
    long own = number_of(argument);
    uint32_t x = (uint32_t)own;
    for (long i = 0; i < rounds; i++) {
        x = busy(x, work);
        x = own < readers ? read_once(x) : write_once(x);
    }
    atomic_fetch_add(&sum, x);
    return NULL;
}

int run_readers_and_writers(int argc, char **argv)
{
    readers = argument(argc, argv, 1, "number of readers", 0);
    writers = argument(argc, argv, 2, "number of writers", 0);
    rounds = argument(argc, argv, 3, "number of rounds", 0);
    work = argument(argc, argv, 4, "amount of work", 0);
    uint64_t began = now_ns();
    run_threads(readers + writers, body);
    account(began);
    printf("reads %ld writes %" PRId32 " torn %ld sum %" PRIu32 "\n", readers * rounds, halves[1], (long)torn, sum);
    return 0;
}
