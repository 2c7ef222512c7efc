/* Two threads that give way to each other: `sync_cm ROUNDS`. */
#include "models.h"

#include <sched.h>
#include <stdio.h>

static long rounds;

static void *body(void *argument)
{
    (void)argument;
    for (long i = 0; i < rounds; i++)
        sched_yield();
    return NULL;
}

int main(int argc, char **argv)
{
    must_be_cooperative();
    rounds = argument(argc, argv, 1, "number of rounds", 1);
    uint64_t began = now_ns();
    run_threads(2, body);
    account_operations(began, 2 * rounds);
    printf("rounds %ld\n", rounds);
}
