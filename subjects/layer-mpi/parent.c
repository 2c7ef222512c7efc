/* mpirun ends its processes when one of them fails, but not when it is killed itself: each looks after that on its own. */
#include "start.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static void *await_end(void *context)
{
    struct pollfd end = {.fd = (int)(intptr_t)context, .events = POLLIN};
    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        continue;
    _exit(EXIT_FAILURE);
}

/* Kernels before 5.3 have no descriptors of processes; there the keeper of the laboratory must do. */
void end_with_parent(void)
{
    pthread_t thread;
    long parent = syscall(SYS_pidfd_open, getppid(), 0);
    if (parent < 0)
        return;
    int error = pthread_create(&thread, NULL, await_end, (void *)(intptr_t)parent);
    if (error != 0)
        member_fail("no thread to watch mpirun: %s", strerror(error));
    pthread_detach(thread);
}
