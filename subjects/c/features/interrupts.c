/* A signal to the process itself: from just before kill to the first statement of the handler, or of a thread that waits
 * for the signal in sigwaitinfo. */
#include "features.h"
#include "handoff.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static pid_t self;
static atomic_uint_fast64_t handled_ns; /* written by the handler or the waiting thread */

/* Handler: kill returns after it, since this is the only thread that the signal can go to. ------------------------------ */

static struct sigaction action_before;

static void on_signal(int signal_number)
{
    atomic_store_explicit(&handled_ns, kit_now(), memory_order_relaxed);
    (void)signal_number;
}

static void attach(uint64_t argument)
{
    (void)argument;
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, &action_before);
    self = getpid();
}

static void detach(void)
{
    sigaction(SIGUSR1, &action_before, NULL);
}

static void operate_handler(struct kit_sample *sample)
{
    sample->actual_ns = kit_now();
    kill(self, SIGUSR1);
    sample->ended_ns = atomic_load(&handled_ns);
}

/* Waiting thread: every thread blocks the signal, so it goes to the one that waits. ----------------------------------------- */

static pthread_t waiter;
static bool started;
static atomic_bool ending; /* set before the signal that ends the waiter */
static sigset_t awaited, mask_before;
static sem_t ready, handled;

static void *waiter_body(void *unused)
{
    (void)unused;
    for (;;) {
        sem_post(&ready);
        while (sigwaitinfo(&awaited, NULL) < 0)
            continue;
        atomic_store_explicit(&handled_ns, kit_now(), memory_order_relaxed);
        if (atomic_load(&ending))
            return NULL;
        kit_thread_takes_part("waiter");
        sem_post(&handled);
    }
}

static void start_waiter(uint64_t argument)
{
    (void)argument;
    self = getpid();
    atomic_store(&ending, false);
    sem_init(&ready, 0, 0);
    sem_init(&handled, 0, 0);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &awaited, &mask_before);
    kit_start_partner(&waiter, waiter_body, NULL);
    started = true;
}

static void end_waiter(void)
{
    if (started) {
        atomic_store(&ending, true);
        kill(self, SIGUSR2);
        pthread_join(waiter, NULL);
    }
    started = false;
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    sem_destroy(&ready);
    sem_destroy(&handled);
}

static void operate_wait(struct kit_sample *sample)
{
    semaphore_wait(&ready);
    sample->actual_ns = kit_now();
    kill(self, SIGUSR2);
    semaphore_wait(&handled);
    sample->ended_ns = atomic_load(&handled_ns);
}

const struct kit_test interrupt_tests[] = {
    {.name = "interrupt.signal_handler", .kind = KIT_LATENCY, .operate = operate_handler, .prepare = attach,
     .finish = detach},
    {.name = "interrupt.signal_wait", .kind = KIT_LATENCY, .operate = operate_wait, .prepare = start_waiter,
     .finish = end_waiter, .threads = 2},
    {.name = NULL},
};
