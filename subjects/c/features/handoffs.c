/* Control given to a partner thread and back: by two semaphores, and by a mutex and two condition variables. */
#include "features.h"
#include "handoff.h"

static uint64_t frame_semaphore(uint64_t iterations)
{
    uint64_t sum = 0;
    handoff_begin();
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum += handoff_and_back();
    return sum;
}

/* Condition variables ------------------------------------------------------------------------------------------------ */

/* The signal is sent with the lock held, as monitors do. Whether the thread that it wakes runs at once and stops at the
 * lock is the scheduler's choice (it does under `other`, it does not under `fifo`), so no number of switches is declared. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t there = PTHREAD_COND_INITIALIZER, back = PTHREAD_COND_INITIALIZER;
static enum { MAIN_HAS_IT, PARTNER_HAS_IT, ENDING } control; /* under the lock, like what follows */
static uint64_t exchanged;
static bool started;
static pthread_t partner;

static void *partner_body(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (control == MAIN_HAS_IT)
            pthread_cond_wait(&there, &lock);
        if (control == ENDING)
            break;
        kit_thread_takes_part("partner");
        exchanged++;
        control = MAIN_HAS_IT;
        pthread_cond_signal(&back);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void prepare(uint64_t argument)
{
    (void)argument;
    control = MAIN_HAS_IT;
    kit_start_partner(&partner, partner_body, NULL);
    started = true;
}

static void finish(void)
{
    if (!started)
        return;
    pthread_mutex_lock(&lock);
    control = ENDING;
    pthread_cond_signal(&there);
    pthread_mutex_unlock(&lock);
    pthread_join(partner, NULL);
    started = false;
}

static uint64_t hand_over(void)
{
    pthread_mutex_lock(&lock);
    control = PARTNER_HAS_IT;
    pthread_cond_signal(&there);
    while (control != MAIN_HAS_IT)
        pthread_cond_wait(&back, &lock);
    uint64_t so_far = exchanged;
    pthread_mutex_unlock(&lock);
    return so_far;
}

static uint64_t frame_condvar(uint64_t iterations)
{
    uint64_t sum = 0;
    exchanged = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum += hand_over();
    return sum;
}

const struct kit_test handoff_tests[] = {
    {.name = "handoff.semaphore", .control = empty_loop, .test = frame_semaphore, .prepare = handoff_prepare,
     .finish = handoff_finish, .threads = 2, .switches = "2"},
    {.name = "handoff.condvar", .control = empty_loop, .test = frame_condvar, .prepare = prepare, .finish = finish,
     .threads = 2},
    {.name = NULL},
};
