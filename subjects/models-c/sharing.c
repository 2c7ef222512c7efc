/* Two threads with long loops and no synchronization: how often does the processor go from one to the other?
   `sharing CHUNKS WORK`: each runs CHUNKS busy loops, and looks after each whether the other ran since. */
#include "models.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

static long chunks, work;
static atomic_long latest = -1;
static atomic_long turns;
static _Atomic uint32_t sum;

static void *body(void *argument)
{
    long own = number_of(argument);
    uint32_t x = (uint32_t)own;
    for (long i = 0; i < chunks; i++) {
        x = busy(x, work);
        if (atomic_exchange(&latest, own) != own)
            atomic_fetch_add(&turns, 1);
    }
    atomic_fetch_add(&sum, x);
    return NULL;
}

int main(int argc, char **argv)
{
    chunks = argument(argc, argv, 1, "number of chunks", 1);
    work = argument(argc, argv, 2, "amount of work", 0);
    uint64_t began = now_ns();
    run_threads(2, body);
    printf("@@ run turns=%ld\n", (long)turns);
    account(began);
    printf("sum %" PRIu32 "\n", sum);
}
