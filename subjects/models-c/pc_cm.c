/* One producer, one consumer, one slot that each looks at until its turn has come: `pc_cm ITEMS WORK`. */
#include "models.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

static long items, work;
static volatile bool is_full;
static volatile int32_t slot;
static uint32_t sum;

static void produce(void)
{
    for (long i = 1; i <= items; i++) {
        int32_t item = compute((int32_t)i, work);
        while (is_full)
            sched_yield();
        slot = item;
        is_full = true;
    }
}

static void consume(void)
{
    for (long i = 1; i <= items; i++) {
        while (!is_full)
            sched_yield();
        int32_t item = slot;
        is_full = false;
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
    must_be_cooperative();
    items = argument(argc, argv, 1, "number of items", 0);
    work = argument(argc, argv, 2, "amount of work", 0);
    uint64_t began = now_ns();
    run_threads(2, body);
    account(began);
    printf("items %ld sum %" PRIu32 "\n", items, sum);
}
