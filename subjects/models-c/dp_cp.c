/* Dining philosophers, a semaphore a fork: `dp_cp PHILOSOPHERS MEALS WORK`. The last one takes the right fork first. */
#include "models.h"

#include <inttypes.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static long philosophers, meals, work;
static sem_t *fork_of;
static _Atomic uint32_t sum;

static void *philosopher(void *argument)
{
    long own = number_of(argument);
    long next = (own + 1) % philosophers;
    long first = own < next ? own : next;
    long second = own < next ? next : own;
    uint32_t x = (uint32_t)own;
    for (long i = 0; i < meals; i++) {
        x = busy(x, work); /* think */
        sem_wait(&fork_of[first]);
        sem_wait(&fork_of[second]);
        x = busy(x, work); /* eat */
        sem_post(&fork_of[first]);
        sem_post(&fork_of[second]);
    }
    atomic_fetch_add(&sum, x);
    return NULL;
}

int main(int argc, char **argv)
{
    philosophers = argument(argc, argv, 1, "number of philosophers", 2);
    meals = argument(argc, argv, 2, "number of meals", 0);
    work = argument(argc, argv, 3, "amount of work", 0);
    fork_of = calloc((size_t)philosophers, sizeof *fork_of);
    check(fork_of == NULL, "calloc");
    for (long i = 0; i < philosophers; i++)
        check(sem_init(&fork_of[i], 0, 1), "sem_init");
    uint64_t began = now_ns();
    run_threads(philosophers, philosopher);
    account(began);
    printf("meals %ld sum %" PRIu32 "\n", philosophers * meals, sum);
}
