/* Two threads that hand control to each other by semaphores: `sync_cp ROUNDS`. */
#include "models.h"

#include <semaphore.h>
#include <stdio.h>

static long rounds;
static sem_t turn[2];

static void *body(void *argument)
{
    long own = number_of(argument);
    for (long i = 0; i < rounds; i++) {
        sem_wait(&turn[own]);
        sem_post(&turn[1 - own]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argument(argc, argv, 1, "number of rounds", 1);
    check(sem_init(&turn[0], 0, 1), "sem_init");
    check(sem_init(&turn[1], 0, 0), "sem_init");
    uint64_t began = now_ns();
    run_threads(2, body);
    account_operations(began, 2 * rounds);
    printf("rounds %ld\n", rounds);
}
