/* Threads created and joined, and each phase of that alone. The phases add up: `elaborate` is the call of pthread_create;
 * `activate` runs from its return to the thread's first statement (0 if that came first); `terminate` runs from the
 * thread's last statement to the return of pthread_join. */
#include "features.h"

#include <string.h>

static void *task_body(void *count)
{
    kit_thread_takes_part("task");
    ++*(uint64_t *)count;
    return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *), void *context)
{
    int error = pthread_create(thread, kit_partner_attributes(), body, context);
    if (error != 0)
        kit_fail("pthread_create: %s", strerror(error));
}

static uint64_t frame_allocated(uint64_t iterations)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        pthread_t thread;
        start(&thread, task_body, &count);
        pthread_join(thread, NULL);
    }
    return count;
}

static uint64_t frame_count(uint64_t iterations)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        ++count;
    return count;
}

/* One thread's life, ns of the subject's clock. */
struct life {
    uint64_t create_ns, created_ns, first_ns, last_ns, joined_ns;
};

static void *timed_body(void *context)
{
    struct life *life = context;
    life->first_ns = kit_now();
    kit_thread_takes_part("task");
    life->last_ns = kit_now();
    return NULL;
}

static void live(struct life *life)
{
    pthread_t thread;
    life->create_ns = kit_now();
    start(&thread, timed_body, life);
    life->created_ns = kit_now();
    pthread_join(thread, NULL);
    life->joined_ns = kit_now();
}

static void elaborate(struct kit_sample *sample)
{
    struct life life;
    live(&life);
    *sample = (struct kit_sample){.actual_ns = life.create_ns, .ended_ns = life.created_ns};
}

static void activate(struct kit_sample *sample)
{
    struct life life;
    live(&life);
    uint64_t begun_ns = life.created_ns < life.first_ns ? life.created_ns : life.first_ns;
    *sample = (struct kit_sample){.actual_ns = begun_ns, .ended_ns = life.first_ns};
}

static void terminate(struct kit_sample *sample)
{
    struct life life;
    live(&life);
    *sample = (struct kit_sample){.actual_ns = life.last_ns, .ended_ns = life.joined_ns};
}

const struct kit_test task_tests[] = {
    {.name = "task.allocated", .control = frame_count, .test = frame_allocated, .threads = 2, .switches = "1"},
    {.name = "task.phase.elaborate", .kind = KIT_LATENCY, .operate = elaborate, .threads = 2},
    {.name = "task.phase.activate", .kind = KIT_LATENCY, .operate = activate, .threads = 2},
    {.name = "task.phase.terminate", .kind = KIT_LATENCY, .operate = terminate, .threads = 2},
    {.name = NULL},
};
