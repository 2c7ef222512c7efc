/* What a protected object is in C: a mutex is the protected procedure, a read-write lock the function, a mutex with a
 * condition the entry. Nobody contends here, except that in `closed` and `expired` another thread holds the mutex. */
#include "features.h"
#include "handoff.h"

#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t read_write = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool is_open = true;
static uint64_t value; /* the object's data */

#define FRAME(name, statement)                                                                                         \
    static uint64_t frame_##name(uint64_t iterations)                                                                  \
    {                                                                                                                  \
        value = 0;                                                                                                     \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                      \
            statement;                                                                                                 \
        }                                                                                                              \
        return value;                                                                                                  \
    }

static inline void procedure(void)
{
    pthread_mutex_lock(&mutex);
    value += 1;
    pthread_mutex_unlock(&mutex);
}

static inline void entry(void)
{
    pthread_mutex_lock(&mutex);
    while (!is_open)
        pthread_cond_wait(&opened, &mutex);
    value += 1;
    pthread_mutex_unlock(&mutex);
}

static inline void conditional(void)
{
    if (pthread_mutex_trylock(&mutex) == 0) {
        value += 1;
        pthread_mutex_unlock(&mutex);
    } else {
        value += 2;
    }
}

/* Under the ordinary policy Linux lets a wait until now go on for the timer's slack, 50 µs. A delay that has expired at once,
 * as Ada's `delay 0.0`, is therefore a deadline that has passed for sure. */
enum { EXPIRED_NS = -1000000 };

static inline struct timespec deadline_in(int64_t nanoseconds)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += (long)nanoseconds;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_nsec -= 1000000000;
        deadline.tv_sec += 1;
    } else if (deadline.tv_nsec < 0) {
        deadline.tv_nsec += 1000000000;
        deadline.tv_sec -= 1;
    }
    return deadline;
}

static inline void timed(int64_t nanoseconds)
{
    struct timespec deadline = deadline_in(nanoseconds);
    if (pthread_mutex_timedlock(&mutex, &deadline) == 0) {
        value += 1;
        pthread_mutex_unlock(&mutex);
    } else {
        value += 2;
    }
}

FRAME(update, value += 1)
FRAME(procedure, procedure())
FRAME(entry, entry())
FRAME(conditional, conditional())
FRAME(timed_open, timed(1000000))
FRAME(timed_expired, timed(EXPIRED_NS))
FRAME(timed_expired_1us, timed(1000)) /* the delay is part of the cost */

static uint64_t frame_read(uint64_t iterations)
{
    uint64_t sum = 0;
    value = 1;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        KIT_KEEP(value);
        sum += value;
    }
    return sum;
}

static uint64_t frame_function(uint64_t iterations)
{
    uint64_t sum = 0;
    value = 1;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        pthread_rwlock_rdlock(&read_write);
        sum += value;
        pthread_rwlock_unlock(&read_write);
    }
    return sum;
}

/* Another thread that holds the mutex from preparation to finish --------------------------------------------------------- */

static pthread_t holder;
static bool holding;
static sem_t held, release;

static void *holder_body(void *unused)
{
    (void)unused;
    kit_thread_takes_part("holder");
    pthread_mutex_lock(&mutex);
    sem_post(&held);
    semaphore_wait(&release);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void hold(uint64_t argument)
{
    (void)argument;
    sem_init(&held, 0, 0);
    sem_init(&release, 0, 0);
    kit_start_partner(&holder, holder_body, NULL);
    holding = true;
    semaphore_wait(&held);
}

static void let_go(void)
{
    if (holding) {
        sem_post(&release);
        pthread_join(holder, NULL);
    }
    holding = false;
    sem_destroy(&held);
    sem_destroy(&release);
}

const struct kit_test protected_tests[] = {
    {.name = "protected.function", .control = frame_read, .test = frame_function, .switches = "0"},
    {.name = "protected.procedure", .control = frame_update, .test = frame_procedure, .switches = "0"},
    {.name = "protected.entry", .control = frame_update, .test = frame_entry, .switches = "0"},
    {.name = "protected.conditional.open", .control = frame_update, .test = frame_conditional, .switches = "0"},
    {.name = "protected.conditional.closed", .control = frame_update, .test = frame_conditional, .switches = "0",
     .prepare = hold, .finish = let_go},
    {.name = "protected.timed.open", .control = frame_update, .test = frame_timed_open, .switches = "0"},
    {.name = "protected.timed.expired", .control = frame_update, .test = frame_timed_expired, .prepare = hold,
     .finish = let_go},
    {.name = "protected.timed.expired_1us", .control = frame_update, .test = frame_timed_expired_1us, .prepare = hold,
     .finish = let_go},
    {.name = NULL},
};
