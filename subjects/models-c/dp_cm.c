/* Dining philosophers that give way until both forks are there: `dp_cm PHILOSOPHERS MEALS WORK`. Only under FIFO scheduling on one
   processor does no other thread run between a test and what follows it. */
#include "models.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static long philosophers, meals, work;
static volatile bool *is_free;
static uint32_t sum;

static void *philosopher(void *argument)
{
    long own = number_of(argument);
    long next = (own + 1) % philosophers;
    uint32_t x = (uint32_t)own;
    for (long i = 0; i < meals; i++) {
        x = busy(x, work); /* think */
        while (!(is_free[own] && is_free[next]))
            sched_yield();
        is_free[own] = is_free[next] = false;
        x = busy(x, work); /* eat */
        is_free[own] = is_free[next] = true;
    }
    sum += x;
    return NULL;
}

int main(int argc, char **argv)
{
    must_be_cooperative();
    philosophers = argument(argc, argv, 1, "number of philosophers", 2);
    meals = argument(argc, argv, 2, "number of meals", 0);
    work = argument(argc, argv, 3, "amount of work", 0);
    is_free = calloc((size_t)philosophers, sizeof *is_free);
    check(is_free == NULL, "calloc");
    for (long i = 0; i < philosophers; i++)
        is_free[i] = true;
    uint64_t began = now_ns();
    run_threads(philosophers, philosopher);
    account(began);
    printf("meals %ld sum %" PRIu32 "\n", philosophers * meals, sum);
}
