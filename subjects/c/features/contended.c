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

/* Procedure: the partner holds the mutex until the caller has come and waits for it. The control goes through the same steps
 * without the mutex, so that the difference is the wait for it and its handing over: on one processor two more switches of
 * context, across processors the caller's falling asleep and being woken.
 *
 * The steps are counted, and each thread looks for the other's: it sleeps for the mutex alone. With semaphores a thread
 * would sleep whenever the other is late, and across processors the frames would differ by how often one happens to be
 * woken, which takes longer than all the rest. There, too, the partner holds on for a while, in both frames, until the
 * caller sleeps for sure: else it is chance whether the caller sleeps at all. ---------------------------------------------- */

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;

/* Rounds that have come so far: the caller wants the partner to hold; it holds; the caller has come; the partner lets go. */
static atomic_uint_fast64_t wishes, holdings, comings, releases;
static atomic_bool partner_ends, partner_sleeps;
static sem_t wake;
static uint64_t hold_on_ns;
static bool with_mutex;
static uint64_t passed; /* under the mutex, or by the caller alone */

/* Where looking is in vain, as on one processor, the other thread is let run. */
enum { LOOKS = 500, PATIENCE_NS = 1000000 };

static bool looked(atomic_uint_fast64_t *steps, uint64_t round)
{
    for (unsigned looks = 0; looks < LOOKS; looks++)
        if (atomic_load(steps) >= round)
            return true;
    return false;
}

static void await(atomic_uint_fast64_t *steps, uint64_t round)
{
    if (looked(steps, round))
        return;
    while (atomic_load(steps) < round)
        sched_yield();
}

/* The next wish may be long in coming: between two slices the partner looks out for it, between two requests it sleeps. */
static void await_wish(uint64_t round)
{
    if (looked(&wishes, round))
        return;
    uint64_t tired_ns = kit_now() + PATIENCE_NS;
    while (atomic_load(&wishes) < round) {
        sched_yield();
        if (kit_now() < tired_ns)
            continue;
        atomic_store(&partner_sleeps, true);
        if (atomic_load(&wishes) < round)
            semaphore_wait(&wake);
        atomic_store(&partner_sleeps, false);
    }
}

static void wish(uint64_t round)
{
    atomic_store(&wishes, round);
    if (atomic_load(&partner_sleeps))
        sem_post(&wake);
}

static void hold_on(void)
{
    for (uint64_t end_ns = kit_now() + hold_on_ns; kit_now() < end_ns;)
        continue;
}

static void *holder_body(void *unused)
{
    (void)unused;
    for (uint64_t round = 1;; round++) {
        await_wish(round);
        if (atomic_load(&partner_ends))
            return NULL;
        kit_thread_takes_part("partner");
        bool locks = with_mutex;
        if (locks)
            pthread_mutex_lock(&contended);
        atomic_store(&holdings, round);
        await(&comings, round);
        if (hold_on_ns > 0)
            hold_on();
        atomic_store(&releases, round);
        if (locks)
            pthread_mutex_unlock(&contended);
    }
}

static void prepare_procedure(uint64_t argument)
{
    (void)argument;
    sem_init(&wake, 0, 0);
    atomic_store(&partner_ends, false);
    atomic_store(&partner_sleeps, false);
    atomic_store(&wishes, 0);
    atomic_store(&holdings, 0);
    atomic_store(&comings, 0);
    atomic_store(&releases, 0);
    hold_on_ns = kit_partners_elsewhere() ? 2000 : 0;
    start(holder_body);
}

static void finish_procedure(void)
{
    if (started) {
        atomic_store(&partner_ends, true);
        atomic_store(&comings, UINT64_MAX); /* wherever it waits, if the test has ended half-way */
        wish(UINT64_MAX);
        pthread_join(partner, NULL);
    }
    started = false;
    sem_destroy(&wake);
}

static inline void let_partner_hold(bool mutex)
{
    uint64_t round = atomic_load(&wishes) + 1;
    with_mutex = mutex;
    wish(round);
    await(&holdings, round);
    atomic_store(&comings, round);
}

/* The control does not wait for the end of the last round; the test has. */
static void await_last_release(void)
{
    if (hold_on_ns > 0)
        await(&releases, atomic_load(&wishes));
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
    await_last_release();
    return passed;
}

static uint64_t frame_steps(uint64_t iterations)
{
    passed = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        let_partner_hold(false);
        passed += 1;
    }
    await_last_release();
    return passed;
}

const struct kit_test contended_tests[] = {
    {.name = "protected.contended.entry", .control = frame_count, .test = frame_entry, .prepare = prepare_entry,
     .finish = finish_entry, .threads = 2},
    {.name = "protected.contended.procedure", .control = frame_steps, .test = frame_procedure,
     .prepare = prepare_procedure, .finish = finish_procedure, .threads = 2, .switches = "4"},
    {.name = NULL},
};
