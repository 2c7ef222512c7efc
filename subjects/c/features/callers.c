/* K callers of one server thread, which serves one call at a time: a rendezvous by a mutex and condition variables. The
 * measuring thread is one of the callers; the iterations of a frame are calls of all callers together. */
#include "features.h"
#include "handoff.h"

#define CALLERS_MOST 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER, served = PTHREAD_COND_INITIALIZER,
                      vacant = PTHREAD_COND_INITIALIZER;
static enum { VACANT, CALLED, SERVED } state; /* under the lock, like what follows */
static bool ending;
static uint64_t calls_served;

static pthread_t server;
static bool server_started;

/* The callers beside the measuring thread: each does its share of a frame's calls between two semaphores. */
static struct partner {
    pthread_t thread;
    sem_t begin;
    uint64_t share;
    bool calls; /* false in the control frame */
} partners[CALLERS_MOST - 1];
static unsigned partner_count, partners_started;
static sem_t share_done;

static void *server_body(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (state != CALLED && !ending)
            pthread_cond_wait(&called, &lock);
        if (ending)
            break;
        kit_thread_takes_part("server");
        calls_served++;
        state = SERVED;
        pthread_cond_signal(&served);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Only the caller whose call is in hand waits on `served`, the others on `vacant`. */
static void call(void)
{
    pthread_mutex_lock(&lock);
    while (state != VACANT)
        pthread_cond_wait(&vacant, &lock);
    state = CALLED;
    pthread_cond_signal(&called);
    while (state != SERVED)
        pthread_cond_wait(&served, &lock);
    state = VACANT;
    pthread_cond_signal(&vacant);
    pthread_mutex_unlock(&lock);
}

static void do_share(uint64_t share, bool calls)
{
    for (uint64_t i = 0; i < share; i = kit_increment(i))
        if (calls)
            call();
}

static void *partner_body(void *context)
{
    struct partner *partner = context;
    for (;;) {
        semaphore_wait(&partner->begin);
        if (ending)
            return NULL;
        kit_thread_takes_part("caller");
        do_share(partner->share, partner->calls);
        sem_post(&share_done);
    }
}

static void prepare(unsigned callers)
{
    state = VACANT;
    ending = false;
    partner_count = callers - 1;
    sem_init(&share_done, 0, 0);
    kit_start_partner(&server, server_body, NULL);
    server_started = true;
    for (unsigned i = 0; i < partner_count; i++) {
        sem_init(&partners[i].begin, 0, 0);
        kit_start_partner(&partners[i].thread, partner_body, &partners[i]);
        partners_started++;
    }
}

static void finish(void)
{
    pthread_mutex_lock(&lock);
    ending = true;
    pthread_cond_signal(&called);
    pthread_mutex_unlock(&lock);
    while (partners_started > 0) {
        struct partner *partner = &partners[--partners_started];
        sem_post(&partner->begin);
        pthread_join(partner->thread, NULL);
        sem_destroy(&partner->begin);
    }
    if (server_started)
        pthread_join(server, NULL);
    server_started = false;
    sem_destroy(&share_done);
}

/* Both frames begin and end the partners' shares, so that only the calls make the difference. */
static uint64_t all_shares(uint64_t iterations, bool calls)
{
    uint64_t share = iterations / (partner_count + 1), rest = iterations % (partner_count + 1);
    calls_served = 0;
    for (unsigned i = 0; i < partner_count; i++) {
        partners[i].share = share + (i < rest ? 1 : 0);
        partners[i].calls = calls;
        sem_post(&partners[i].begin);
    }
    do_share(share, calls);
    for (unsigned i = 0; i < partner_count; i++)
        semaphore_wait(&share_done);
    return calls ? calls_served : iterations;
}

static uint64_t frame_calls(uint64_t iterations)
{
    return all_shares(iterations, true);
}

static uint64_t frame_control(uint64_t iterations)
{
    return all_shares(iterations, false);
}

#define CALLERS(X) X(2) X(4) X(8)

#define PREPARE(callers)                                                                                               \
    static void prepare_##callers(uint64_t argument)                                                                   \
    {                                                                                                                  \
        (void)argument;                                                                                                \
        prepare(callers);                                                                                              \
    }
CALLERS(PREPARE)

#define ROW(callers)                                                                                                   \
    {.name = "rendezvous.callers." #callers, .control = frame_control, .test = frame_calls,                            \
     .prepare = prepare_##callers, .finish = finish, .threads = (callers) + 1},
const struct kit_test caller_tests[] = {CALLERS(ROW){.name = NULL}};
