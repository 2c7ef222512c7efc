/* One producer, one consumer, one slot, two semaphores: `pc_cp ITEMS WORK`. */
#include "models.h"

#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>

static long items, work;
static sem_t empty, full;
static int32_t slot;
static uint32_t sum;

static void produce(void)
{
    for (long i = 1; i <= items; i++) {
        int32_t item = compute((int32_t)i, work);
        sem_wait(&empty);
        slot = item;
        sem_post(&full);
    }
}

static void consume(void)
{
    for (long i = 1; i <= items; i++) {
        sem_wait(&full);
        int32_t item = slot;
        sem_post(&empty);
        sum = sum * 31 + (uint32_t)compute(item, work);
    }
}

static void *body(void *argument)
{
    if (number_of(argument) == 0)
        produce();
    else
        consume();
    return NULL;
}

int main(int argc, char **argv)
{
    items = argument(argc, argv, 1, "number of items", 0);
    work = argument(argc, argv, 2, "amount of work", 0);
    check(sem_init(&empty, 0, 1), "sem_init");
    check(sem_init(&full, 0, 0), "sem_init");
    uint64_t began = now_ns();
    run_threads(2, body);
    account(began);
    printf("items %ld sum %" PRIu32 "\n", items, sum);
}
