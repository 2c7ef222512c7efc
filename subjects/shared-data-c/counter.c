/* The counter: every task adds one as often as it can. */
#include "shared.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Volatile, so that every increment is one of memory; that alone makes none of them indivisible. */
static volatile uint64_t unprotected;
static _Atomic uint64_t indivisible;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t locked;

static uint64_t value(const char *way)
{
    return strcmp(way, "unsafe") == 0 ? unprotected : strcmp(way, "atomic") == 0 ? indivisible : locked;
}

static void without(struct task *task)
{
    while (!atomic_load_explicit(&time_is_up, memory_order_relaxed)) {
        for (int i = 0; i < OPERATIONS_A_LOOK; i++)
            unprotected = unprotected + 1;
        task->operations += OPERATIONS_A_LOOK;
    }
}

static void by_atomic(struct task *task)
{
    while (!atomic_load_explicit(&time_is_up, memory_order_relaxed)) {
        for (int i = 0; i < OPERATIONS_A_LOOK; i++)
            atomic_fetch_add(&indivisible, 1);
        task->operations += OPERATIONS_A_LOOK;
    }
}

static void by_lock(struct task *task)
{
    while (!atomic_load_explicit(&time_is_up, memory_order_relaxed)) {
        for (int i = 0; i < OPERATIONS_A_LOOK; i++) {
            pthread_mutex_lock(&lock);
            locked++;
            pthread_mutex_unlock(&lock);
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
    uint64_t elapsed_ns = run_tasks(tasks, argument[1], ways[i].work, task), operations = 0;
    for (unsigned t = 0; t < tasks; t++)
        operations += task[t].operations;
    if (value(way) != operations && strcmp(way, "unsafe") != 0)
        fail("%s lost increments: %" PRIu64 " of %" PRIu64 " are left", way, value(way), operations);
    printf("counter, tasks %u\n@@ run elapsed_ns=%" PRIu64 " operations=%" PRIu64 " kept=%" PRIu64 "\n", tasks, elapsed_ns,
           operations, value(way));
}
