#include "handoff.h"

static sem_t there, back;
static uint64_t exchanged; /* written by whoever has control */
static bool ending, started;
static pthread_t partner;

static void *partner_body(void *unused)
{
    (void)unused;
    for (;;) {
        semaphore_wait(&there);
        if (ending)
            return NULL;
        kit_thread_takes_part("partner");
        exchanged++;
        sem_post(&back);
    }
}

void handoff_prepare(uint64_t argument)
{
    (void)argument;
    sem_init(&there, 0, 0);
    sem_init(&back, 0, 0);
    ending = false;
    kit_start_partner(&partner, partner_body, NULL);
    started = true;
}

void handoff_finish(void)
{
    if (started) {
        ending = true;
        sem_post(&there);
        pthread_join(partner, NULL);
    }
    started = false;
    sem_destroy(&there);
    sem_destroy(&back);
}

void handoff_begin(void)
{
    exchanged = 0;
}

uint64_t handoff_and_back(void)
{
    sem_post(&there);
    semaphore_wait(&back);
    return exchanged;
}
