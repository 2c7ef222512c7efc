/* A barrier of semaphores: each tells the coordinator, the first worker, and waits to be let go. */
#include "ji.h"

#include <semaphore.h>
#include <stdlib.h>

static long workers;
static sem_t arrived;
static sem_t *go;

void barrier_init(long count)
{
    workers = count;
    check(sem_init(&arrived, 0, 0), "sem_init");
    go = calloc((size_t)count, sizeof *go);
    check(go == NULL, "calloc");
    for (long i = 0; i < count; i++)
        check(sem_init(&go[i], 0, 0), "sem_init");
}

void barrier(long own)
{
    if (own > 0) {
        sem_post(&arrived);
        sem_wait(&go[own]);
        return;
    }
    for (long i = 1; i < workers; i++)
        sem_wait(&arrived);
    for (long i = 1; i < workers; i++)
        sem_post(&go[i]);
}

int main(int argc, char **argv)
{
    return run_jacobi(argc, argv);
}
