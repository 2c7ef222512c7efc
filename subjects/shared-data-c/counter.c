/* The counter: every task adds one as often as it can. */
#include "shared.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* On the heap in all languages but Python: what is reached by a register processors may keep at hand, and add to it several times as fast as to
 * what has a fixed place in the program (docs/explanation/shared-data.md). */
struct counter {
    _Alignas(APART) volatile uint64_t unprotected; /* volatile: every increment is one of memory; that alone makes none of them indivisible */
    _Atomic uint64_t indivisible;
    uint64_t locked;
    pthread_mutex_t lock;
};

static struct counter *volatile shared; /* volatile, so that no compiler finds that it is always the same */

static uint64_t value(const char *way)
{
    return strcmp(way, "unsafe") == 0 ? shared->unprotected : strcmp(way, "atomic") == 0 ? shared->indivisible : shared->locked;
}

static void without(struct task *task)
{
    struct counter *counter = shared;
    while (!atomic_load_explicit(&time_is_up, memory_order_relaxed)) {
        for (int i = 0; i < OPERATIONS_A_LOOK; i++)
            counter->unprotected = counter->unprotected + 1;
        task->operations += OPERATIONS_A_LOOK;
    }
}

static void by_atomic(struct task *task)
{
    struct counter *counter = shared;
    while (!atomic_load_explicit(&time_is_up, memory_order_relaxed)) {
        for (int i = 0; i < OPERATIONS_A_LOOK; i++)
            atomic_fetch_add(&counter->indivisible, 1);
        task->operations += OPERATIONS_A_LOOK;
    }
}

static void by_lock(struct task *task)
{
    struct counter *counter = shared;
    while (!atomic_load_explicit(&time_is_up, memory_order_relaxed)) {
        for (int i = 0; i < OPERATIONS_A_LOOK; i++) {
            pthread_mutex_lock(&counter->lock);
            counter->locked++;
            pthread_mutex_unlock(&counter->lock);
        }
        task->operations += OPERATIONS_A_LOOK;
    }
}

static const struct {
    const char *way;
    void (*work)(struct task *task);
} ways[] = {{"unsafe", without}, {"atomic", by_atomic}, {"locked", by_lock}, {NULL, NULL}};

void run_counter(const char *way, const unsigned long *argument)
{
    struct task task[TASKS_MOST];
    unsigned tasks = (unsigned)argument[0], i = 0;
    while (ways[i].way && strcmp(ways[i].way, way) != 0)
        i++;
    if (!ways[i].way)
        fail("there is no program `counter_%s`", way);
    struct counter *counter = aligned_alloc(APART, sizeof *counter);
    if (!counter)
        fail("no storage for a counter");
    memset(counter, 0, sizeof *counter);
    atomic_init(&counter->indivisible, 0);
    if (pthread_mutex_init(&counter->lock, NULL) != 0)
        fail("no lock for a counter");
    shared = counter;
    uint64_t elapsed_ns = run_tasks(tasks, argument[1], ways[i].work, task), operations = 0;
    for (unsigned t = 0; t < tasks; t++)
        operations += task[t].operations;
    if (value(way) != operations && strcmp(way, "unsafe") != 0)
        fail("%s lost increments: %" PRIu64 " of %" PRIu64 " are left", way, value(way), operations);
    printf("counter, tasks %u\n@@ run elapsed_ns=%" PRIu64 " operations=%" PRIu64 " kept=%" PRIu64 "\n", tasks, elapsed_ns,
           operations, value(way));
}
