/* The cases with contention: a caller that blocks until another thread opens the barrier, and a caller that finds the
 * mutex held by another thread and must wait for it. */
#include "features.h"
#include "handoff.h"

#include <sched.h>

static pthread_t partner;
static bool started;

static void start(void *(*body)(void *))
{
    kit_start_partner(&partner, body, NULL);
    started = true;
}

/* Entry: the partner opens the barrier each time that the caller waits ------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER, wanted = PTHREAD_COND_INITIALIZER;
static bool is_open, is_wanted, ending; /* under the lock, like what follows */
static uint64_t openings;

static void *opener_body(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!is_wanted && !ending)
            pthread_cond_wait(&wanted, &lock);
        if (ending)
            break;
        kit_thread_takes_part("partner");
        is_wanted = false;
        is_open = true;
        openings++;
        pthread_cond_signal(&opened);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void prepare_entry(uint64_t argument)
{
    (void)argument;
    is_open = is_wanted = ending = false;
    start(opener_body);
}

static void finish_entry(void)
{
    if (!started)
        return;
    pthread_mutex_lock(&lock);
    ending = true;
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
    pthread_join(partner, NULL);
    started = false;
}

static void entry(void)
{
    pthread_mutex_lock(&lock);
    is_wanted = true;
    pthread_cond_signal(&wanted);
    while (!is_open)
        pthread_cond_wait(&opened, &lock);
    is_open = false;
    pthread_mutex_unlock(&lock);
}

static uint64_t frame_entry(uint64_t iterations)
{
    openings = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        entry();
    return openings;
}

static uint64_t frame_count(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        sum += 1;
    return sum;
}

/* Procedure: the partner holds the mutex until the caller is about to wait for it. The control goes through the same steps
 * without the mutex, so that the difference is the wait for it and its handing over. -------------------------------------- */

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static sem_t go, held;
static atomic_bool partner_ends;
static atomic_uint_fast64_t comings; /* of the caller, counted: a flag could be set and cleared again unseen */
static bool with_mutex;
static uint64_t passed; /* under the mutex, or by the caller alone */

static void *holder_body(void *unused)
{
    (void)unused;
    for (uint64_t round = 1;; round++) {
        semaphore_wait(&go);
        if (atomic_load(&partner_ends))
            return NULL;
        kit_thread_takes_part("partner");
        bool locks = with_mutex;
        if (locks)
            pthread_mutex_lock(&contended);
        sem_post(&held);
        while (atomic_load(&comings) < round)
            sched_yield();
        if (locks)
            pthread_mutex_unlock(&contended);
    }
}

static void prepare_procedure(uint64_t argument)
{
    (void)argument;
    sem_init(&go, 0, 0);
    sem_init(&held, 0, 0);
    atomic_store(&partner_ends, false);
    atomic_store(&comings, 0);
    start(holder_body);
}

static void finish_procedure(void)
{
    if (started) {
        atomic_store(&partner_ends, true);
        sem_post(&go);
        pthread_join(partner, NULL);
    }
    started = false;
    sem_destroy(&go);
    sem_destroy(&held);
}

static inline void let_partner_hold(bool mutex)
{
    with_mutex = mutex;
    sem_post(&go);
    semaphore_wait(&held);
    atomic_fetch_add(&comings, 1);
}

static uint64_t frame_procedure(uint64_t iterations)
{
    passed = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        let_partner_hold(true);
        pthread_mutex_lock(&contended);
        passed += 1;
        pthread_mutex_unlock(&contended);
    }
    return passed;
}

static uint64_t frame_steps(uint64_t iterations)
{
    passed = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        let_partner_hold(false);
        passed += 1;
    }
    return passed;
}

const struct kit_test contended_tests[] = {
    {.name = "protected.contended.entry", .control = frame_count, .test = frame_entry, .prepare = prepare_entry,
     .finish = finish_entry, .threads = 2},
    {.name = "protected.contended.procedure", .control = frame_steps, .test = frame_procedure,
     .prepare = prepare_procedure, .finish = finish_procedure, .threads = 2, .switches = "4"},
    {.name = NULL},
};
