/* Control given to a partner thread and back by two semaphores: the simplest operation that blocks. */
#ifndef KIT_HANDOFF_H
#define KIT_HANDOFF_H

#include "kit.h"

#include <errno.h>
#include <semaphore.h>

kit_prepare_hook handoff_prepare; /* starts the partner */
kit_hook handoff_finish;          /* ends it */

/* One hand-off there and back; returns how many there have been in the frame. */
uint64_t handoff_and_back(void);

/* Begins a frame: the next hand-off is the first. */
void handoff_begin(void);

/* sem_wait that a signal does not interrupt. */
static inline void semaphore_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) == -1 && errno == EINTR)
        continue;
}

#endif
