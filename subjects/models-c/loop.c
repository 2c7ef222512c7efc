/* Loops without synchronization: `loop THREADS ITERATIONS`. */
#include "models.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

static long iterations;
static _Atomic uint32_t sum;

static void *body(void *argument)
{
    atomic_fetch_add(&sum, busy((uint32_t)number_of(argument), iterations));
    return NULL;
}

int main(int argc, char **argv)
{
    long threads = argument(argc, argv, 1, "number of threads", 1);
    iterations = argument(argc, argv, 2, "number of iterations", 0);
    uint64_t began = now_ns();
    run_threads(threads, body);
    account(began);
    printf("sum %" PRIu32 "\n", sum);
}
